// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Assertions in threads.  Those of cmocka would end the program there, without a message, which is
 * kept for the thread that runs the test.  Test programs are linked so that their assertions, and
 * their calls of pthread_join(), come here first (TTHREAD in the Makefile).
 *
 * An assertion that fails in a thread prints its message at once and ends this thread.  The test
 * fails when it joins the next thread, with the same message; if it joins none the program fails at
 * its end.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cm.h"

void __real__assert_true(uintmax_t ok, const char *expression, const char *file, int line);
void __wrap__assert_true(uintmax_t ok, const char *expression, const char *file, int line);
void __real__assert_int_equal(uintmax_t a, uintmax_t b, const char *file, int line);
void __wrap__assert_int_equal(uintmax_t a, uintmax_t b, const char *file, int line);
void __real__assert_int_not_equal(uintmax_t a, uintmax_t b, const char *file, int line);
void __wrap__assert_int_not_equal(uintmax_t a, uintmax_t b, const char *file, int line);
void __real__assert_string_equal(const char *a, const char *b, const char *file, int line);
void __wrap__assert_string_equal(const char *a, const char *b, const char *file, int line);
void __real__assert_memory_equal(const void *a, const void *b, size_t len, const char *file,
				 int line);
void __wrap__assert_memory_equal(const void *a, const void *b, size_t len, const char *file,
				 int line);
void __real__assert_in_range(uintmax_t n, uintmax_t low, uintmax_t high, const char *file,
			     int line);
void __wrap__assert_in_range(uintmax_t n, uintmax_t low, uintmax_t high, const char *file,
			     int line);
void __real__fail(const char *file, int line);
void __wrap__fail(const char *file, int line);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);

static struct {
	pthread_mutex_t lock;
	char text[256];			/* of the first that has failed; "": none has */
} failed = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool in_thread(void)
{
	return gettid() != getpid();
}

__attribute__((format(printf, 3, 4)))
static void end_thread(const char *file, int line, const char *format, ...)
{
	char text[sizeof(failed.text)];
	va_list args;
	int n;

	n = snprintf(text, sizeof(text), "%s:%d: error in a thread: ", file, line);
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
	pthread_mutex_lock(&failed.lock);
	fprintf(stderr, "%s\n", text);
	if (!*failed.text)
		snprintf(failed.text, sizeof(failed.text), "%s", text);
	pthread_mutex_unlock(&failed.lock);
	pthread_exit(NULL);
}

void __wrap__assert_true(uintmax_t ok, const char *expression, const char *file, int line)
{
	if (!ok && in_thread())
		end_thread(file, line, "%s", expression);
	__real__assert_true(ok, expression, file, line);
}

void __wrap__assert_int_equal(uintmax_t a, uintmax_t b, const char *file, int line)
{
	if (a != b && in_thread())
		end_thread(file, line, "%#jx != %#jx", a, b);
	__real__assert_int_equal(a, b, file, line);
}

void __wrap__assert_int_not_equal(uintmax_t a, uintmax_t b, const char *file, int line)
{
	if (a == b && in_thread())
		end_thread(file, line, "%#jx twice", a);
	__real__assert_int_not_equal(a, b, file, line);
}

void __wrap__assert_string_equal(const char *a, const char *b, const char *file, int line)
{
	if (in_thread() && strcmp(a, b))
		end_thread(file, line, "\"%s\" != \"%s\"", a, b);
	__real__assert_string_equal(a, b, file, line);
}

void __wrap__assert_memory_equal(const void *a, const void *b, size_t len, const char *file,
				 int line)
{
	if (in_thread() && memcmp(a, b, len))
		end_thread(file, line, "%zu bytes differ", len);
	__real__assert_memory_equal(a, b, len, file, line);
}

void __wrap__assert_in_range(uintmax_t n, uintmax_t low, uintmax_t high, const char *file,
			     int line)
{
	if (in_thread() && (n < low || n > high))
		end_thread(file, line, "%#jx is not in %#jx-%#jx", n, low, high);
	__real__assert_in_range(n, low, high, file, line);
}

void __wrap__fail(const char *file, int line)
{
	if (in_thread())
		end_thread(file, line, "failure");
	__real__fail(file, line);
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
	int err = __real_pthread_join(thread, result);
	char text[sizeof(failed.text)];

	if (in_thread())
		return err;
	pthread_mutex_lock(&failed.lock);
	snprintf(text, sizeof(text), "%s", failed.text);
	*failed.text = '\0';
	pthread_mutex_unlock(&failed.lock);
	if (*text) {
		print_error("%s\n", text);
		__real__fail(__FILE__, __LINE__);
	}
	return err;
}

__attribute__((destructor))
static void end_program(void)
{
	if (*failed.text)
		_exit(EXIT_FAILURE);
}
