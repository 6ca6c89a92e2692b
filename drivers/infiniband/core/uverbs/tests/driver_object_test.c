// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: objects that only a driver has: one whose handles are numbers, and one whose handles are
 * descriptors. Requests make and destroy them, and so does the end of their file or device.
 */
#include <linux/file.h>
#include <rdma/uverbs_std_types.h>

#define UVERBS_MODULE_NAME fake
#include <rdma/uverbs_named_ioctl.h>

#include "test_uverbs.h"

enum {
	FAKE_OBJECT_NUMBER = 1U << UVERBS_ID_NS_SHIFT,
	FAKE_OBJECT_FILE,
};

enum {
	FAKE_METHOD_NUMBER_CREATE = 1U << UVERBS_ID_NS_SHIFT,
	FAKE_METHOD_NUMBER_DESTROY,
	FAKE_METHOD_NUMBER_TRADE,
};

enum {
	FAKE_METHOD_FILE_CREATE = 1U << UVERBS_ID_NS_SHIFT,
	FAKE_METHOD_FILE_USE,
};

enum {
	FAKE_ATTR_HANDLE = 1U << UVERBS_ID_NS_SHIFT,
	FAKE_ATTR_OTHER,
	FAKE_ATTR_FILE,
};

#define REASONS (RDMA_REMOVE_ABORT + 1)

/**
 * struct number - an object whose handle is a number
 * @uobj: the handle
 * @mark: MARK when the driver has made it
 */
struct number {
	struct ib_uobject uobj;
	u32 mark;
};

#define MARK	0x600d

/**
 * struct driver - what the driver has done
 * @numbers: objects with numbers that it holds
 * @files: objects with descriptors that it holds
 * @used: requests that passed it a descriptor
 * @traded: requests that destroyed a number and passed it another object
 * @ended: calls to destroy an object, by reason
 * @ret: return value of a method
 * @unmade: a method that fails does so before it has made the object
 * @nothing: a method succeeds without making an object
 * @refuse: return value of the call that destroys a number
 * @wrong: calls to destroy an object that was not made
 */
static struct driver {
	int numbers, files, used, traded;
	unsigned int ended[REASONS];
	int ret;
	bool unmade;
	bool nothing;
	int refuse;
	unsigned int wrong;
} driver;

static int end_number(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	driver.ended[why]++;
	driver.wrong += container_of(uobj, struct number, uobj)->mark != MARK;
	if (driver.refuse)
		return driver.refuse;
	driver.numbers--;
	return 0;
}

static void end_file(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	driver.ended[why]++;
	driver.files--;
}

static int make(struct uverbs_attr_bundle *attrs, int *count)
{
	if (driver.unmade)
		return driver.ret;
	++*count;
	uverbs_finalize_uobj_create(attrs, FAKE_ATTR_HANDLE);
	return driver.ret;
}

static int UVERBS_HANDLER(FAKE_METHOD_NUMBER_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, FAKE_ATTR_HANDLE);

	if (driver.nothing)
		return 0;
	uobj->object = &driver;
	container_of(uobj, struct number, uobj)->mark = MARK;
	return make(attrs, &driver.numbers);
}

static int UVERBS_HANDLER(FAKE_METHOD_FILE_CREATE)(struct uverbs_attr_bundle *attrs)
{
	return make(attrs, &driver.files);
}

static int UVERBS_HANDLER(FAKE_METHOD_FILE_USE)(struct uverbs_attr_bundle *attrs)
{
	driver.used++;
	return driver.ret;
}

static int UVERBS_HANDLER(FAKE_METHOD_NUMBER_TRADE)(struct uverbs_attr_bundle *attrs)
{
	driver.traded++;
	return 0;
}

static const struct file_operations file_fops = {
	.owner = THIS_MODULE,
	.release = uverbs_uobject_fd_release,
};

DECLARE_UVERBS_NAMED_METHOD(FAKE_METHOD_NUMBER_CREATE,
			    UVERBS_ATTR_IDR(FAKE_ATTR_HANDLE, FAKE_OBJECT_NUMBER,
					    UVERBS_ACCESS_NEW, UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD_DESTROY(FAKE_METHOD_NUMBER_DESTROY,
				    UVERBS_ATTR_IDR(FAKE_ATTR_HANDLE, FAKE_OBJECT_NUMBER,
						    UVERBS_ACCESS_DESTROY, UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD(FAKE_METHOD_NUMBER_TRADE,
			    UVERBS_ATTR_IDR(FAKE_ATTR_HANDLE, FAKE_OBJECT_NUMBER,
					    UVERBS_ACCESS_DESTROY, UA_MANDATORY),
			    UVERBS_ATTR_IDR(FAKE_ATTR_OTHER, FAKE_OBJECT_NUMBER,
					    UVERBS_ACCESS_READ, UA_OPTIONAL),
			    UVERBS_ATTR_FD(FAKE_ATTR_FILE, FAKE_OBJECT_FILE, UVERBS_ACCESS_READ,
					   UA_OPTIONAL));
DECLARE_UVERBS_NAMED_OBJECT(FAKE_OBJECT_NUMBER,
			    UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct number), end_number),
			    &UVERBS_METHOD(FAKE_METHOD_NUMBER_CREATE),
			    &UVERBS_METHOD(FAKE_METHOD_NUMBER_DESTROY),
			    &UVERBS_METHOD(FAKE_METHOD_NUMBER_TRADE));

DECLARE_UVERBS_NAMED_METHOD(FAKE_METHOD_FILE_CREATE,
			    UVERBS_ATTR_FD(FAKE_ATTR_HANDLE, FAKE_OBJECT_FILE, UVERBS_ACCESS_NEW,
					   UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD(FAKE_METHOD_FILE_USE,
			    UVERBS_ATTR_FD(FAKE_ATTR_HANDLE, FAKE_OBJECT_FILE, UVERBS_ACCESS_READ,
					   UA_MANDATORY));
DECLARE_UVERBS_NAMED_OBJECT(FAKE_OBJECT_FILE,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct ib_uobject), end_file, &file_fops,
						 "[kt_driver]", O_RDONLY),
			    &UVERBS_METHOD(FAKE_METHOD_FILE_CREATE),
			    &UVERBS_METHOD(FAKE_METHOD_FILE_USE));

const struct uapi_definition fake_driver_objects[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(FAKE_OBJECT_NUMBER, &UVERBS_OBJECT(FAKE_OBJECT_NUMBER)),
	UAPI_DEF_CHAIN_OBJ_TREE(FAKE_OBJECT_FILE, &UVERBS_OBJECT(FAKE_OBJECT_FILE)),
	{}
};

/* Calls a method with one attribute, a handle. Returns that handle, or a negative errno. */
static s64 call(struct uverbs_test *t, u16 object, u16 method, s64 handle)
{
	struct ib_uverbs_attr attr = TU_HANDLE(FAKE_ATTR_HANDLE, handle);
	int ret = tu_ioctl(t, object, method, &attr, 1);

	return ret ?: attr.data_s64;
}

static s64 new_number(struct uverbs_test *t)
{
	return call(t, FAKE_OBJECT_NUMBER, FAKE_METHOD_NUMBER_CREATE, 0);
}

static s64 end(struct uverbs_test *t, s64 handle)
{
	return call(t, FAKE_OBJECT_NUMBER, FAKE_METHOD_NUMBER_DESTROY, handle);
}

static s64 new_file(struct uverbs_test *t)
{
	return call(t, FAKE_OBJECT_FILE, FAKE_METHOD_FILE_CREATE, 0);
}

static s64 use(struct uverbs_test *t, s64 fd)
{
	return call(t, FAKE_OBJECT_FILE, FAKE_METHOD_FILE_USE, fd);
}

static void numbers(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	s64 one, two;

	one = new_number(t);
	two = new_number(t);
	KUNIT_ASSERT_GE(test, one, 0);
	KUNIT_ASSERT_GE(test, two, 0);
	KUNIT_EXPECT_NE(test, one, two);
	KUNIT_EXPECT_EQ(test, driver.numbers, 2);
	/* A number is not accepted as a PD, nor a PD as a number. */
	KUNIT_EXPECT_EQ(test, end(t, t->pd), -EINVAL);
	KUNIT_EXPECT_EQ(test, end(t, one), one);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_DESTROY], 1);
	KUNIT_EXPECT_EQ(test, driver.numbers, 1);
	KUNIT_EXPECT_EQ(test, end(t, one), -ENOENT);
	driver.refuse = -EBUSY;
	KUNIT_EXPECT_EQ(test, end(t, two), -EBUSY);
	driver.refuse = 0;

	/* A request that fails leaves no object, whether or not the driver had made it. */
	driver.ret = -EIO;
	KUNIT_EXPECT_EQ(test, new_number(t), -EIO);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_ABORT], 1);
	driver.unmade = true;
	KUNIT_EXPECT_EQ(test, new_number(t), -EIO);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_ABORT], 1);
	KUNIT_EXPECT_EQ(test, driver.numbers, 1);

	tu_close(t);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_CLOSE], 1);
	KUNIT_EXPECT_EQ(test, driver.numbers, 0);
}

/* A method that succeeds without an object leaves a handle, which can be destroyed like others. */
static void number_of_nothing(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	s64 one, two;

	driver.nothing = true;
	one = new_number(t);
	two = new_number(t);
	KUNIT_ASSERT_GE(test, one, 0);
	KUNIT_ASSERT_GE(test, two, 0);
	KUNIT_EXPECT_EQ(test, end(t, one), one);
	KUNIT_EXPECT_EQ(test, end(t, one), -ENOENT);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_DESTROY], 0);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_CLOSE], 0);
}

static void files(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t;
	struct file *filp;
	s64 fd;

	fd = new_file(t);
	KUNIT_ASSERT_GE(test, fd, 0);
	KUNIT_EXPECT_EQ(test, driver.files, 1);
	filp = fget(fd);
	KUNIT_ASSERT_NOT_NULL(test, filp);
	KUNIT_EXPECT_PTR_EQ(test, filp->f_op, &file_fops);
	fput(filp);
	/* Only the file that made it accepts it. */
	KUNIT_EXPECT_EQ(test, use(t, fd), fd);
	KUNIT_EXPECT_EQ(test, use(t, t->async_fd), -EBADF);
	KUNIT_ASSERT_EQ(test, tu_open(&other), 0);
	KUNIT_EXPECT_EQ(test, use(&other, fd), -EBADF);
	tu_close(&other);
	KUNIT_EXPECT_EQ(test, driver.used, 1);

	driver.ret = -EIO;
	KUNIT_EXPECT_EQ(test, new_file(t), -EIO);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_ABORT], 1);
	driver.unmade = true;
	KUNIT_EXPECT_EQ(test, new_file(t), -EIO);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_ABORT], 1);
	KUNIT_EXPECT_EQ(test, driver.files, 1);

	tu_close_fd(fd);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_CLOSE], 1);
	KUNIT_EXPECT_EQ(test, driver.files, 0);
}

/* A descriptor may stay open after its object was destroyed, which happens once. */
static void files_outlive_objects(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	s64 of_file, of_device;

	of_file = new_file(t);
	KUNIT_ASSERT_GE(test, of_file, 0);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_CLOSE], 1);
	tu_close_fd(of_file);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_CLOSE], 1);

	KUNIT_ASSERT_EQ(test, tu_open(t), 0);
	of_device = new_file(t);
	KUNIT_ASSERT_GE(test, of_device, 0);
	KUNIT_ASSERT_GE(test, new_number(t), 0);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_DRIVER_REMOVE], 2);
	KUNIT_EXPECT_EQ(test, driver.files + driver.numbers, 0);
	tu_close_fd(of_device);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_CLOSE], 1);
	KUNIT_EXPECT_EQ(test, driver.ended[RDMA_REMOVE_DRIVER_REMOVE], 2);
}

/* Destroys a number in a request that also uses another object, which attribute @id names. */
static int trade(struct uverbs_test *t, s64 handle, u16 id, s64 other)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(FAKE_ATTR_HANDLE, handle),
		TU_HANDLE(id, other),
	};

	return tu_ioctl(t, FAKE_OBJECT_NUMBER, FAKE_METHOD_NUMBER_TRADE, attrs, ARRAY_SIZE(attrs));
}

/* After the removal of the device an object can be destroyed, but not used. */
static void trades(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	s64 one, two, three, fd;

	one = new_number(t);
	two = new_number(t);
	three = new_number(t);
	fd = new_file(t);
	KUNIT_ASSERT_GE(test, three, 0);
	KUNIT_ASSERT_GE(test, fd, 0);
	KUNIT_EXPECT_EQ(test, trade(t, one, FAKE_ATTR_OTHER, two), 0);
	KUNIT_EXPECT_EQ(test, driver.traded, 1);
	one = new_number(t);
	KUNIT_EXPECT_EQ(test, trade(t, one, FAKE_ATTR_FILE, fd), 0);
	KUNIT_EXPECT_EQ(test, driver.traded, 2);
	KUNIT_EXPECT_EQ(test, driver.numbers, 2);

	tu_remove_device(t);
	tu_expect_refused(t, trade(t, two, FAKE_ATTR_OTHER, three), -EIO, "device was removed");
	tu_expect_refused(t, trade(t, two, FAKE_ATTR_FILE, fd), -EIO, "device was removed");
	KUNIT_EXPECT_EQ(test, driver.traded, 2);
	/* A request that was refused has destroyed nothing. */
	KUNIT_EXPECT_EQ(test, end(t, two), two);
	KUNIT_EXPECT_EQ(test, end(t, two), -ENOENT);
	KUNIT_EXPECT_EQ(test, end(t, three), three);
	tu_close_fd(fd);
}

static int driver_object_init(struct kunit *test)
{
	memset(&driver, 0, sizeof(driver));
	return tu_init(test);
}

static void driver_object_exit(struct kunit *test)
{
	tu_exit(test);
	KUNIT_EXPECT_EQ(test, driver.wrong, 0);
	KUNIT_EXPECT_EQ(test, driver.numbers + driver.files, 0);
}

static struct kunit_case driver_object_cases[] = {
	KUNIT_CASE(numbers),
	KUNIT_CASE(number_of_nothing),
	KUNIT_CASE(files),
	KUNIT_CASE(files_outlive_objects),
	KUNIT_CASE(trades),
	{}
};

static struct kunit_suite driver_object_suite = {
	.name = "rdma_uverbs_driver_object",
	.init = driver_object_init,
	.exit = driver_object_exit,
	.test_cases = driver_object_cases,
};

kunit_test_suite(driver_object_suite);
