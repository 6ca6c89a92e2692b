# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which rows of uapi-commands.tsv a kernel has code for: read from the tables of the modules that
were built from this tree, and of those of Linux 6.12 in the guest root."""

import os
import re

from elf import Elf

# bytes of the tables' elements
UVERBS_OBJECT, UVERBS_CMD, UVERBS_ARG, NL_CBS, UMAD_IOCTL, UCMA_COMMAND = 24, 64, 48, 24, 16, 32
NO_METHOD, NO_ATTR, NO_WRITE = 0xffff, 0xffff, 0xff

# netlink clients: what the names of their operations begin with; client; module and table of ours,
# and of Linux 6.12
NETLINK = [
    ("RDMA_NL_LS_OP_", "RDMA_NL_LS", ("ib_core", "local_cbs"), ("ib_core", "ibnl_ls_cb_table")),
    ("RDMA_NLDEV_CMD_", "RDMA_NL_NLDEV", ("ib_core", "nldev_commands"), ("ib_core", "nldev_cb_table")),
    ("RDMA_NL_IWPM_", "RDMA_NL_IWCM", ("iw_cm", "iwcm_netlink"), ("iw_cm", "iwcm_nl_cb_table")),
]

# The enum that numbers a method's attributes, for methods whose enum is not named after them.
METHOD_OF_ENUM = {
    "uverbs_attrs_invoke_write_cmd_attr_ids": "INVOKE_WRITE",
    "uverbs_attrs_query_port_cmd_attr_ids": "QUERY_PORT",
    "uverbs_attrs_get_context_attr_ids": "GET_CONTEXT",
    "uverbs_attrs_query_context_attr_ids": "QUERY_CONTEXT",
    "uverbs_attrs_create_cq_cmd_attr_ids": "CQ_CREATE",
    "uverbs_attrs_destroy_cq_cmd_attr_ids": "CQ_DESTROY",
    "uverbs_attrs_create_flow_action_esp": "FLOW_ACTION_ESP_CREATE",
    "uverbs_attrs_modify_flow_action_esp": "FLOW_ACTION_ESP_MODIFY",
    "uverbs_attrs_destroy_flow_action_esp": "FLOW_ACTION_DESTROY",
    "uverbs_attrs_create_qp_cmd_attr_ids": "QP_CREATE",
    "uverbs_attrs_destroy_qp_cmd_attr_ids": "QP_DESTROY",
    "uverbs_attrs_create_srq_cmd_attr_ids": "SRQ_CREATE",
    "uverbs_attrs_destroy_srq_cmd_attr_ids": "SRQ_DESTROY",
    "uverbs_attrs_create_wq_cmd_attr_ids": "WQ_CREATE",
    "uverbs_attrs_destroy_wq_cmd_attr_ids": "WQ_DESTROY",
    "uverbs_attrs_alloc_dm_cmd_attr_ids": "DM_ALLOC",
    "uverbs_attrs_free_dm_cmd_attr_ids": "DM_FREE",
    "uverbs_attrs_reg_dm_mr_cmd_attr_ids": "DM_MR_REG",
    "uverbs_attrs_mr_destroy_ids": "MR_DESTROY",
    "uverbs_attrs_advise_mr_cmd_attr_ids": "ADVISE_MR",
    "uverbs_attrs_query_mr_cmd_attr_ids": "QUERY_MR",
    "uverbs_attrs_reg_dmabuf_mr_cmd_attr_ids": "REG_DMABUF_MR",
    "uverbs_attrs_create_counters_cmd_attr_ids": "COUNTERS_CREATE",
    "uverbs_attrs_destroy_counters_cmd_attr_ids": "COUNTERS_DESTROY",
    "uverbs_attrs_read_counters_cmd_attr_ids": "COUNTERS_READ",
    "uverbs_attrs_info_handles_id": "INFO_HANDLES",
    "uverbs_attrs_pd_destroy_ids": "PD_DESTROY",
    "uverbs_attrs_mw_destroy_ids": "MW_DESTROY",
    "uverbs_attrs_xrcd_destroy_ids": "XRCD_DESTROY",
    "uverbs_attrs_ah_destroy_ids": "AH_DESTROY",
    "uverbs_attrs_rwq_ind_tbl_destroy_ids": "RWQ_IND_TBL_DESTROY",
    "uverbs_attrs_flow_destroy_ids": "FLOW_DESTROY",
    "uverbs_attrs_async_event_create": "ASYNC_EVENT_ALLOC",
    "uverbs_attrs_query_gid_table_cmd_attr_ids": "QUERY_GID_TABLE",
    "uverbs_attrs_query_gid_entry_cmd_attr_ids": "QUERY_GID_ENTRY",
}
OBJECT_OF_ENUM = {
    "uverbs_methods_device": "DEVICE", "uverbs_methods_pd": "PD", "uverbs_methods_cq": "CQ",
    "uverbs_methods_qp": "QP", "uverbs_methods_srq": "SRQ", "uverbs_methods_ah": "AH",
    "uverbs_methods_mr": "MR", "uverbs_methods_mw": "MW", "uverbs_methods_flow": "FLOW",
    "uverbs_methods_xrcd": "XRCD", "uverbs_methods_rwq_ind_tbl": "RWQ_IND_TBL",
    "uverbs_methods_wq": "WQ", "uverbs_methods_actions_flow_action_ops": "FLOW_ACTION",
    "uverbs_methods_dm": "DM", "uverbs_methods_actions_counters_ops": "COUNTERS",
    "uverbs_method_async_event": "ASYNC_EVENT",
}


class Numbers:
    """The enums of the uapi headers: value of each name, and the enum it stands in."""

    def __init__(self, folder):
        self.value, self.enum = {}, {}
        for name in ("ib_user_verbs.h", "ib_user_ioctl_cmds.h", "rdma_netlink.h", "rdma_user_cm.h"):
            with open(os.path.join(folder, "rdma", name), encoding="utf-8") as file:
                self._read(re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S))
        with open(os.path.join(folder, "rdma/rdma_user_ioctl.h"), encoding="utf-8") as file:
            for name, number in re.findall(r"^#define\s+(IB_USER_MAD_\w+)\s+_IO\w*\(\w+,\s*(0x\w+)", file.read(), re.M):
                self.value[name] = int(number, 16)

    def _read(self, text):
        for name, number in re.findall(r"^#define\s+(\w+)\s+(\d+)$", text, re.M):
            self.value[name] = int(number)
        for enum, body in re.findall(r"enum\s*(\w*)\s*\{(.*?)\}", text, re.S):
            following = 0
            for item in body.split(","):
                name, _, given = (part.strip() for part in item.partition("="))
                if not re.fullmatch(r"\w+", name):
                    continue
                if re.fullmatch(r"\w+", given) and not given[0].isdigit():
                    following = self.value[given]
                elif re.fullmatch(r"\d+|0x[0-9a-fA-F]+", given):
                    following = int(given, 0)
                self.value[name], self.enum[name] = following, enum
                following += 1

    def method_of(self, attr):
        """The method an attribute belongs to, by name; None for those that any may have."""
        method = METHOD_OF_ENUM.get(self.enum[attr])
        return method and "UVERBS_METHOD_" + method

    def object_of(self, method):
        return "UVERBS_OBJECT_" + OBJECT_OF_ENUM[self.enum[method]]


def nl_client(name):
    """The client that has the operation of that name."""
    return next(client for prefix, client, _, _ in NETLINK if name.startswith(prefix))


def nl_commands(elf, table):
    """Numbers for which a table of struct rdma_nl_cbs has a handler."""
    place = elf.symbols[table]
    return {number for number in range(elf.sizes[table] // NL_CBS)
            if elf.pointer(place, number * NL_CBS) or elf.pointer(place, number * NL_CBS + 8)}


def umad_ioctls(elf):
    """Numbers of the ioctl requests that a table of struct umad_ioctl has a handler for."""
    place = elf.symbols["umad_ioctls"]
    return {elf.unpack("I", place, at)[0] & 0xff for at in range(0, elf.sizes["umad_ioctls"], UMAD_IOCTL)
            if elf.pointer(place, at + 8)}


def ucma_commands(elf):
    """{number: (bytes of the request, bytes that old programs give, room for the response)} of the
    commands that a table of struct ucma_command has a handler for."""
    place = elf.symbols["ucma_commands"]
    if elf.sizes["ucma_commands"] % UCMA_COMMAND:
        raise SystemExit("counts: struct ucma_command has changed: uapi.py has to follow")
    return {number: elf.unpack("HHH", place, number * UCMA_COMMAND + 16)
            for number in range(elf.sizes["ucma_commands"] // UCMA_COMMAND)
            if elf.pointer(place, number * UCMA_COMMAND)}


def commands(elf):
    """(object, place of the struct uverbs_cmd) of each command that ib_uverbs.ko has: its objects, in
    the order of their list, have lists of their own."""
    objects = elf.symbols["uverbs_objects"]
    found = []
    for at in range(0, elf.sizes["uverbs_objects"], 8):
        described = elf.pointer(objects, at)
        if not described:       # the end
            break
        number, = elf.unpack("H", described)
        section, at = elf.pointer(described, 16)
        while elf.pointer((section, at)):
            found.append((number, elf.pointer((section, at))))
            at += 8
    places = {place for _, place in found}
    for name, place in elf.symbols.items():
        if (place in places and elf.sizes[name] != UVERBS_CMD) or \
                (name.startswith("uverbs_object_") and elf.sizes[name] != UVERBS_OBJECT):
            raise SystemExit(f"counts: what {name} is has changed: uapi.py has to follow")
    return found


class Ours:
    """What the modules built from this tree have code for."""

    def __init__(self, tree, numbers):
        core = os.path.join(tree, "drivers/infiniband/core")
        self.numbers = numbers
        self.write, self.extended, self.methods, self.objects = set(), set(), {}, set()
        self._uverbs(Elf(os.path.join(core, "ib_uverbs.ko")))
        self.netlink = {client: nl_commands(Elf(os.path.join(core, module + ".ko")), table)
                        for _, client, (module, table), _ in NETLINK}
        self.umad = umad_ioctls(Elf(os.path.join(core, "ib_umad.ko")))
        self.ucma = set(ucma_commands(Elf(os.path.join(core, "rdma_ucm.ko"))))

    def _uverbs(self, elf):
        for obj, cmd in commands(elf):
            method, write, extended = elf.unpack("HBB", cmd, 8)
            count, = elf.unpack("H", cmd, 26)
            if write != NO_WRITE:
                self.write.add(write)
            if extended != NO_WRITE:
                self.extended.add(extended)
            args = elf.pointer(cmd, 32)
            attrs = {elf.unpack("H", args, i * UVERBS_ARG + 10)[0] for i in range(count)} if count else set()
            if method != NO_METHOD:
                self.methods[(obj, method)] = attrs - {NO_ATTR}
            self.objects.add(obj)

    def has(self, family, name):
        value = self.numbers.value
        if family == "write":
            if name.startswith("EX_"):
                return value["IB_USER_VERBS_" + name] in self.extended
            return value["IB_USER_VERBS_" + name] in self.write
        if family == "netlink":
            return value[name] in self.netlink[nl_client(name)]
        if family == "umad":
            return value[name] in self.umad
        if family == "ucma":
            return value[name] in self.ucma
        if family != "ioctl":
            return False
        if name.startswith("UVERBS_OBJECT_"):
            return value[name] in self.objects
        if name.startswith("UVERBS_METHOD_"):
            return self.method(name) is not None
        method = self.numbers.method_of(name)
        if method is None:      # the driver's part, which every method may have
            return True
        return value[name] in (self.method(method) or ())

    def method(self, name):
        """Attributes of a method, or None."""
        value = self.numbers.value
        return self.methods.get((value[self.numbers.object_of(name)], value[name]))


class Linux:
    """What the modules of Linux 6.12 have code for: their tables are named after the API."""

    def __init__(self, folder, numbers):
        self.numbers = numbers
        self.elf = {name: Elf(os.path.join(folder, name + ".ko.xz"))
                    for name in ("ib_core", "ib_uverbs", "ib_umad", "iw_cm", "rdma_ucm")}
        self.netlink = {client: nl_commands(self.elf[module], table) for _, client, _, (module, table) in NETLINK}
        self.uverbs = self.elf["ib_uverbs"].symbols

    def attrs(self, method):
        elf, table = self.elf["ib_uverbs"], "_method_attrs_" + method
        place = elf.symbols.get(table)
        if not place:
            return None
        found = (elf.pointer(place, at) for at in range(0, elf.sizes[table], 8))
        return {elf.unpack("H", one)[0] for one in found if one}

    def has(self, family, name):
        value = self.numbers.value
        if family == "write":
            handler = name.replace("CMD_", "", 1).lower().replace("ind_tbl", "ind_table")
            return "ib_uverbs_" + handler in self.uverbs
        if family == "netlink":
            return value[name] in self.netlink[nl_client(name)]
        if family == "ucma":
            ucma = self.elf["rdma_ucm"]
            return ucma.pointer(ucma.symbols["ucma_cmd_table"], 8 * value[name]) is not None
        if family == "umad":
            handler = {"IB_USER_MAD_REGISTER_AGENT": "ib_umad_reg_agent",
                       "IB_USER_MAD_REGISTER_AGENT2": "ib_umad_reg_agent2",
                       "IB_USER_MAD_UNREGISTER_AGENT": "ib_umad_unreg_agent",
                       "IB_USER_MAD_ENABLE_PKEY": "ib_umad_ioctl"}[name]
            return handler in self.elf["ib_umad"].symbols
        if name.startswith("UVERBS_OBJECT_"):
            return any(re.fullmatch(f"_object_methods_{name}\\d+", one) for one in self.uverbs)
        if name.startswith("UVERBS_METHOD_"):
            return "ib_uverbs_method_" + name in self.uverbs
        method = self.numbers.method_of(name)
        return method is None or value[name] in (self.attrs(method) or ())


def rows(path):
    """[(family, name)]"""
    with open(path, encoding="utf-8") as file:
        return [tuple(line.split("\t")[:2]) for line in file if not line.startswith("#")]


def classify(listing, ours, linux, different):
    """{(family, name): handled | differing | refused | missing}. different: rows to which the
    two kernels give different answers."""
    found = {}
    for row in listing:
        if ours.has(*row) != linux.has(*row):
            found[row] = "missing"
        elif row in different:
            found[row] = "differing"
        else:
            found[row] = "handled" if linux.has(*row) else "refused"
    return found
