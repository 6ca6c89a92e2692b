// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What verbs do, as applications see it, compared with what hardware does: each case asserts exact
 * results. The expected transitions are those of 6.12's table; statuses, and the states of queues
 * and QPs after errors, follow the transport rules of Documentation/hw/rules.rst.
 *
 * semantics DEVICE [DEVICE]: with a second adapter there are connections between the two, too.
 * SEMANTICS=WORD runs only the cases whose names contain it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "semantics.h"
#include "semantics_run.h"

static const struct suite *const suites[] = {
	&states_suite, &matrix_suite, &errors_suite, &memory_suite, &queues_suite, &shared_suite,
	&datagrams_suite, &paths_suite,
};

#define NUM_SUITES	(sizeof(suites) / sizeof(suites[0]))

static void open_hca(struct hca *h, const char *name)
{
	h->ctx = open_device(name);
	if (!h->ctx || ibv_query_device(h->ctx, &h->attr) ||
	    ibv_query_port(h->ctx, 1, &h->port)) {
		perror(name);
		exit(2);
	}
	h->pd = ibv_alloc_pd(h->ctx);
	h->other_pd = ibv_alloc_pd(h->ctx);
	if (!h->pd || !h->other_pd) {
		perror("ibv_alloc_pd");
		exit(2);
	}
}

static bool run(const struct test *t)
{
	volatile bool good = false;

	if (!setjmp(case_end)) {
		t->run(t->arg);
		good = true;
	}
	good &= !events_left();
	good &= release_all();
	return good;
}

int main(int argc, char **argv)
{
	const char *word = getenv("SEMANTICS");
	unsigned int n = 0, bad = 0, plan = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int d = 1; d < argc && num_hcas < 2; d++)
		open_hca(&hca[num_hcas++], argv[d]);
	if (num_hcas != 2) {
		fprintf(stderr, "usage: semantics DEVICE DEVICE\n");
		return 2;
	}
	for (unsigned int i = 0; i < NUM_SUITES; i++)
		for (unsigned int j = 0; j < suites[i]->num; j++)
			plan += !word || strstr(suites[i]->tests[j].name, word);
	printf("TAP version 13\n1..%u\n", plan);
	for (unsigned int i = 0; i < NUM_SUITES; i++) {
		for (unsigned int j = 0; j < suites[i]->num; j++) {
			const struct test *t = &suites[i]->tests[j];
			bool good;

			if (word && !strstr(t->name, word))
				continue;
			good = run(t);
			printf("%s %u - %s\n", good ? "ok" : "not ok", ++n, t->name);
			bad += !good;
		}
	}
	for (unsigned int i = 0; i < num_hcas; i++) {
		if (ibv_dealloc_pd(hca[i].pd) || ibv_dealloc_pd(hca[i].other_pd) ||
		    ibv_close_device(hca[i].ctx)) {
			perror("the end");
			return 2;
		}
	}
	return bad > 0;
}
