// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Giving up rights.  An attacker who takes over the daemon through a guest has a
 * process that can open no file, start no program and signal no other process.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/log.h"
#include "sandbox.h"

/* ---- user and capabilities ---- */

/*
 * "make install" makes the first user; the second one is shared with other daemons that have no
 * user of their own.
 */
#define OWN_USER	"vhcad"
#define SHARED_USER	"nobody"

static int become(const char *user, const char **what)
{
	const struct passwd *pw;

	if (!user)
		user = getpwnam(OWN_USER) ? OWN_USER : SHARED_USER;
	errno = 0;
	pw = getpwnam(user);
	if (!pw) {
		*what = "there is no such user";
		return errno ? -errno : -ENOENT;
	}
	if (!pw->pw_uid) {
		*what = "that user is root again";
		return -EINVAL;
	}
	*what = "changing the user";
	if (setgroups(0, NULL) || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid))
		return -errno;
	return 0;
}

int sandbox_drop(const char *user, const char **what)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	int sig = 0, err;

	/* the kernel forgets this setting when the process changes its user */
	prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0);
	if (!geteuid()) {
		err = become(user, what);
		if (err)
			return err;
	}
	*what = "dropping capabilities";
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &head, none))
		return -errno;
	*what = "the signal of the parent's death";
	if (sig && prctl(PR_SET_PDEATHSIG, sig, 0, 0, 0))
		return -errno;
	return 0;
}

/* ---- system calls ---- */

/* As pthread_create() asks for: a thread, never a process. */
#define THREAD_FLAGS	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
			 CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | \
			 CLONE_CHILD_CLEARTID)

/* Signals of the C library, between those of the kernel and SIGRTMIN. */
#define SIGCANCEL	32
#define SIGSETXID	33

#define MAX_ARGS	2u

/*
 * A rule for a system call: what happens to it, and for which arguments: argument arg[i], in the
 * bits of mask[i], is value[i].
 * mask[i], is value[i].
 */
struct rule {
	int call;
	u32 action;
	u32 nargs;
	struct {
		u32 n;
		u64 mask, value;
	} arg[MAX_ARGS];
};

#define ALLOW(name)	{ SCMP_SYS(name), SCMP_ACT_ALLOW, 0, { { 0 } } }
#define ALLOW_IF(name, n, mask, value) \
	{ SCMP_SYS(name), SCMP_ACT_ALLOW, 1, { { n, mask, value } } }
#define ANSWER(name, err)	{ SCMP_SYS(name), SCMP_ACT_ERRNO(err), 0, { { 0 } } }
#define ANSWER_IF(name, n, mask, value, err) \
	{ SCMP_SYS(name), SCMP_ACT_ERRNO(err), 1, { { n, mask, value } } }

static const struct rule rules[] = {
	/* guests and vhcactl */
	ALLOW(accept4), ALLOW(recvmsg), ALLOW(sendmsg), ALLOW(recvfrom), ALLOW(sendto),
	ALLOW(shutdown), ALLOW(close), ALLOW(poll), ALLOW(ppoll),
	/* memory of guests */
	ALLOW_IF(fcntl, 1, ~0ull, F_GETFL), ALLOW_IF(fcntl, 1, ~0ull, F_GET_SEALS),
	ALLOW(fstat), ALLOW(fstatfs), ALLOW_IF(newfstatat, 3, ~0ull, AT_EMPTY_PATH),
	/* and of the daemon: never code */
	ALLOW_IF(mmap, 2, PROT_EXEC, 0), ALLOW_IF(mprotect, 2, PROT_EXEC, 0), ALLOW(munmap),
	ALLOW(mremap), ALLOW(brk), ALLOW(madvise),
	/* interrupts */
	ALLOW(io_submit), ALLOW(io_getevents), ALLOW(io_destroy),
	/* eventfds, log, captures */
	ALLOW(read), ALLOW(write), ALLOW(lseek),
	/* threads; the C library's own signals */
	ALLOW_IF(rt_sigaction, 0, ~0ull, SIGCANCEL), ALLOW_IF(rt_sigaction, 0, ~0ull, SIGSETXID),
	ALLOW_IF(clone, 0, ~0ull, THREAD_FLAGS), ALLOW(set_robust_list), ALLOW(rseq),
	ALLOW(futex), ALLOW(rt_sigprocmask), ALLOW(rt_sigtimedwait), ALLOW(rt_sigreturn),
	ALLOW(restart_syscall), ALLOW_IF(prctl, 0, ~0ull, PR_SET_NAME), ALLOW(sched_yield),
	ALLOW(gettid), ALLOW(getpid), ALLOW(exit), ALLOW(exit_group),
	/* where the vDSO has no clock; seeds of hash tables */
	ALLOW(clock_gettime), ALLOW(getrandom),
	/*
	 * Libraries try these and can do without: clone3(), whose flags a filter cannot see, files
	 * that tell the number of processors and the time zone, names for memory.  The sweeper
	 * removes the sockets.
	 */
	ANSWER(clone3, ENOSYS), ANSWER(open, EACCES), ANSWER(openat, EACCES),
	ANSWER_IF(prctl, 0, ~0ull, PR_SET_VMA, EINVAL),
	ANSWER(sched_getaffinity, EPERM), ANSWER(unlink, EPERM), ANSWER(unlinkat, EPERM),
};

static void say_number(int sig, siginfo_t *info, void *context)
{
	static const char what[] = "ended by its own filter of system calls: it tried number ";
	char text[sizeof(what) + 10], *at = text + sizeof(what) - 1;
	u32 n = info->si_syscall, power = 1;

	memcpy(text, what, sizeof(what));

	/* printf() must not be called, as its lock may be held at this moment */
	while (n / power >= 10)
		power *= 10;
	for (; power; power /= 10)
		*at++ = '0' + n / power % 10;
	log_last(text, at - text);
	/* the signal is blocked in its own handler, where a second one ends the process */
	syscall(SYS_getppid);
}

static int add_rule(scmp_filter_ctx ctx, const struct rule *r)
{
	struct scmp_arg_cmp arg[MAX_ARGS];

	/* this architecture does not have the call */
	if (r->call < 0)
		return 0;
	for (u32 i = 0; i < r->nargs; i++)
		arg[i] = SCMP_CMP(r->arg[i].n, SCMP_CMP_MASKED_EQ, r->arg[i].mask,
				  r->arg[i].value);
	return seccomp_rule_add_array(ctx, r->action, r->call, r->nargs, arg);
}

/* Allows signals to the process itself, by which abort() ends it. */
static int add_abort(scmp_filter_ctx ctx)
{
	const struct rule r = {
		SCMP_SYS(tgkill), SCMP_ACT_ALLOW, 2, { { 0, ~0ull, getpid() },
						       { 2, ~0ull, SIGABRT } },
	};

	return add_rule(ctx, &r);
}

int sandbox_filter(void)
{
	const struct sigaction say = { .sa_sigaction = say_number, .sa_flags = SA_SIGINFO };
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_TRAP);
	int err;

	if (!ctx)
		return -ENOMEM;
	err = sigaction(SIGSYS, &say, NULL) ? -errno : add_abort(ctx);
	for (u32 i = 0; i < ARRAY_SIZE(rules) && !err; i++)
		err = add_rule(ctx, &rules[i]);
	if (!err)
		err = seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}
