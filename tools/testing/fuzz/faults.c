// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of the device: programs ask the host, by the pipes of the lab's guests, for commands that
 * the device refuses, answers late, twice or with nonsense, for interrupts that are lost, and for
 * false events and completions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define LAB		"/run/lab/"
#define ANSWER_MS	60000	/* time for the host's answer */

static const char *adapter = "";

/* adapter_name: its name on the host */
void faults_setup(const char *adapter_name)
{
	adapter = adapter_name;
}

static int send_request(const char *words)
{
	int fd = open(LAB "requests", O_WRONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	char line[256];
	int len = snprintf(line, sizeof(line), "%d vhcactl fault %s\n", gettid(), words);

	if (fd < 0)
		return errno;
	if (write(fd, line, len) != len)
		err = EIO;
	close(fd);
	return err;
}

/* Has the host arm a fault: 0, or an errno. */
static int ask_host(const char *words)
{
	struct pollfd poller = { .events = POLLIN };
	char path[64], answer[512];
	int err = ETIMEDOUT;

	snprintf(path, sizeof(path), LAB "answer.%d", gettid());
	unlink(path);
	if (mkfifo(path, 0600))
		return errno;
	poller.fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (poller.fd >= 0 && !send_request(words) && poll(&poller, 1, ANSWER_MS) == 1)
		err = read(poller.fd, answer, sizeof(answer)) > 0 && *answer == '0' ? 0 : EINVAL;
	if (poller.fd >= 0)
		close(poller.fd);
	unlink(path);
	return err;
}

static int ask_of_adapter(const char *kind, const char *how)
{
	char words[200];

	snprintf(words, sizeof(words), "%s %s %s", kind, adapter, how);
	return ask_host(words);
}

/* The device stops until it is reset. */
int fault_fatal(void)
{
	return ask_of_adapter("fatal", "");
}

/*
 * Refused commands.  None destroys an object: if a device refuses that, its driver gives it up, and
 * then nothing else can be tried. The driver's own tests do that.
 */
static const char *const refused[] = {
	"CREATE_PD", "CREATE_XRCD", "CREATE_MKEY", "MODIFY_MKEY", "CREATE_CQ", "RESIZE_CQ",
	"MODIFY_CQ", "CREATE_SRQ", "MODIFY_SRQ", "RESIZE_SRQ", "QUERY_SRQ", "CREATE_QP",
	"MODIFY_QP", "QUERY_QP", "OPEN_UAR", "ADD_DB_PAGE", "ATTACH_MCG", "PROCESS_MAD",
};

static const char *const late[] = {
	"CREATE_MKEY", "DESTROY_MKEY", "FENCE_MKEYS", "CREATE_CQ", "DESTROY_CQ", "DESTROY_SRQ",
	"CREATE_QP", "MODIFY_QP", "DESTROY_QP", "CLOSE_UAR", "DESTROY_PD", "QUERY_PORT",
};

static const char *const answers[] = { "twice", "stale", "unknown", "nonsense" };
static const char *const of_event[] = { "number", "kind", "port", "flags", "chance" };
static const char *const of_completion[] = {
	"number", "kind", "port", "flags", "length", "index", "id", "chance",
};

#define CHOSEN(_names, _value)	(_names)[(_value) % (sizeof(_names) / sizeof(*(_names)))]

/* Bits 0 to 2: which fault; 3, 4: how many pass; 5, 6: how many strike; from 7 on: its argument. */
int fault_make(uint64_t value)
{
	unsigned int skip = value >> 3 & 3, count = 1 + (value >> 5 & 3);
	uint64_t which = value >> 7;
	const char *kind = "command";
	char how[120];

	switch (value & 7) {
	case 0: case 1:
		snprintf(how, sizeof(how), "opcode=%s status=NO_RESOURCE skip=%u count=%u",
			 CHOSEN(refused, which), skip, count);
		break;
	case 2:
		snprintf(how, sizeof(how), "opcode=%s status=INTERNAL skip=%u count=%u",
			 CHOSEN(refused, which), skip, count);
		break;
	case 3:
		snprintf(how, sizeof(how), "opcode=%s delay=%u skip=%u count=%u",
			 CHOSEN(late, which), 20 << skip, skip, count);
		break;
	case 4:
		kind = "interrupt";
		snprintf(how, sizeof(how), "skip=%u count=%u", skip, count);
		break;
	case 5:
		snprintf(how, sizeof(how), "answer=%s skip=%lu", CHOSEN(answers, which),
			 which / 4 % 16);
		break;
	case 6:
		kind = "event";
		snprintf(how, sizeof(how), "lie=%s seed=%lu skip=%u count=%u",
			 CHOSEN(of_event, which), which % 64, skip, count);
		break;
	default:
		kind = "completion";
		snprintf(how, sizeof(how), "lie=%s seed=%lu skip=%u count=%u",
			 CHOSEN(of_completion, which), which % 64, skip, count);
		break;
	}
	/* A caller may be killed before the answer: what may be armed is cleared at the end. */
	__atomic_store_n(&shared->faulty, 1, __ATOMIC_RELEASE);
	return ask_of_adapter(kind, how);
}

/* Clears all faults. */
int faults_clear(void)
{
	return ask_of_adapter("clear", "");
}
