/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Device management beyond Linux 6.12: I/O controllers that this host offers.
 */
#ifndef RDMA_EXT_DM_H
#define RDMA_EXT_DM_H

#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

/* Attributes of the class */
#define IB_DM_ATTR_CLASS_PORT_INFO	0x0001
#define IB_DM_ATTR_IOU_INFO		0x0010
#define IB_DM_ATTR_IOC_PROFILE		0x0011
#define IB_DM_ATTR_SVC_ENTRIES		0x0012

#define IB_DM_CLASS_VERSION		1

/* Status of a response: there is no controller in the slot. */
#define IB_DM_STATUS_NO_IOC		0x0100

/* Slots that an I/O unit may have, and service entries of a response */
#define IB_DM_MAX_SLOTS			255
#define IB_DM_ENTRIES			4

/**
 * struct ib_dm_iou_info - an I/O unit, in wire format
 * @change_id: changes with each change of the unit
 * @max_controllers: number of slots
 * @op_rom: bit 0: there is an option ROM
 * @controller_list: 4 bits for each slot, the higher ones first: 0: no controller, 1: a controller,
 *	0xf: no such slot
 */
struct ib_dm_iou_info {
	__be16 change_id;
	u8 max_controllers;
	u8 op_rom;
	u8 controller_list[128];
};

/**
 * struct ib_dm_ioc_profile - an I/O controller, in wire format
 * @guid: its GUID
 * @vendor_id: IEEE number of the vendor, in the upper 24 bits
 * @device_id: assigned by the vendor
 * @device_version: assigned by the vendor
 * @reserved1: 0
 * @subsys_vendor_id: like @vendor_id, of the enclosure
 * @subsys_device_id: assigned by the vendor of the enclosure
 * @io_class: class of I/O
 * @io_subclass: its subclass
 * @protocol: its protocol
 * @protocol_version: its version
 * @service_conn: connections for each service, 0 if unspecified
 * @initiators_supported: concurrent initiators, 0 if unspecified
 * @send_queue_depth: messages that may be outstanding to it
 * @reserved2: 0
 * @rdma_read_depth: RDMA READs that it may have outstanding
 * @send_size: largest message to it in bytes
 * @rdma_size: largest RDMA transfer in bytes
 * @op_cap_mask: capabilities, 8 bits defined by the protocol
 * @svc_cap_mask: capabilities of its services
 * @num_svc_entries: number of service entries
 * @reserved3: 0
 * @id_string: description, in UTF-8
 */
struct ib_dm_ioc_profile {
	__be64 guid;
	__be32 vendor_id;
	__be32 device_id;
	__be16 device_version;
	__be16 reserved1;
	__be32 subsys_vendor_id;
	__be32 subsys_device_id;
	__be16 io_class;
	__be16 io_subclass;
	__be16 protocol;
	__be16 protocol_version;
	__be16 service_conn;
	__be16 initiators_supported;
	__be16 send_queue_depth;
	u8 reserved2;
	u8 rdma_read_depth;
	__be32 send_size;
	__be32 rdma_size;
	u8 op_cap_mask;
	u8 svc_cap_mask;
	u8 num_svc_entries;
	u8 reserved3[9];
	u8 id_string[64];
};

/**
 * struct ib_dm_svc_entry - a service of an I/O controller, in wire format
 * @name: its name, zero-padded
 * @id: service ID for connection requests
 */
struct ib_dm_svc_entry {
	u8 name[40];
	__be64 id;
};

struct ib_dm_ioc;

struct ib_dm_ioc *ib_dm_register_ioc(struct ib_device *device,
				     const struct ib_dm_ioc_profile *profile,
				     const struct ib_dm_svc_entry *entries, unsigned int count);
int ib_dm_add_svc_entry(struct ib_dm_ioc *ioc, const struct ib_dm_svc_entry *entry);
int ib_dm_remove_svc_entry(struct ib_dm_ioc *ioc, const struct ib_dm_svc_entry *entry);
void ib_dm_unregister_ioc(struct ib_dm_ioc *ioc);

#endif /* RDMA_EXT_DM_H */
