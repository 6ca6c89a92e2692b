/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The daemon's log: one line per operator-visible event.
 */
#ifndef VHCAD_LIB_LOG_H
#define VHCAD_LIB_LOG_H

#include <stddef.h>

/**
 * log_open() - choose where log lines go
 * @path: file to append to, or NULL for standard error
 *
 * Called once, before any thread starts.  Returns 0 or -errno.
 */
int log_open(const char *path);

/**
 * log_line() - write one line to the log
 * @fmt: printf format, without a newline
 *
 * The line carries the wall clock time.  Control characters are replaced, so
 * that text from a client cannot forge lines.  What stands before the first
 * colon names the source; a source that says too much is cut short, so that a
 * guest cannot fill the disk.  Any thread; never allocates.
 */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * log_last() - write a line while the process dies
 * @text: without a newline
 * @len: bytes of it
 *
 * For signal handlers: takes no lock and counts for no source.
 */
void log_last(const char *text, size_t len);

#endif /* VHCAD_LIB_LOG_H */
