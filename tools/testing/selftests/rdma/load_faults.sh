# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Faults that a load has to survive: sourced behind storage_load.sh.
# shellcheck shell=bash

own=node$LAB_NODE-0
device=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
device=${device##*/}
manager=1

managed_by() { [ "$(($(<"$port/sm_lid")))" = "$1" ] && port_is_active; }

lossy()
{
	lab-fault loss all permille=10 seed=7 && goes_on && lab-vhcactl status | grep "struck [1-9]" &&
		lab-fault clear all && goes_on
}

# link_cut COMMAND...: the link is cut until the command has ended, and the load goes on
link_cut() { link_is_cut "$@" && goes_on; }

# link_is_cut COMMAND...: nothing gets through, but that a pass ends whose last answer has come already
link_is_cut()
{
	local before
	lab-vhcactl link "$own" down || return 1
	before=$(passes)
	"$@" || return 1
	[ "$(passes)" -le $((before + 1)) ] || { echo "the load goes on all the same"; return 1; }
	lab-vhcactl link "$own" up && within port_is_active
}

three_seconds() { read -r -t 3 -u "$lab_silence" || true; }
until_given_up() { within given_up; }

# handed_over: the manager is killed, and the other node has one
handed_over()
{
	local rc=0 other=$((3 - manager))
	[ "$LAB_NODE" != "$manager" ] || kill -9 "$(</run/lab/opensm)"
	lab-barrier "killed-$manager"
	[ "$LAB_NODE" = "$manager" ] || lab-opensm || rc=1
	within managed_by "${lid[other]}" || rc=1
	lab-barrier "managed-$other"
	[ "$LAB_NODE" != 2 ] || goes_on || rc=1
	return $rc
}

# which_device: the device, as long as it is registered
which_device() { stat -c %i "/sys/class/infiniband/$LAB_DEV"; }
another_device() { [ "$(which_device)" != "$1" ] && port_is_active; }

# comes_again HOW: the device goes, and is there again with its addresses
comes_again()
{
	local was
	was=$(which_device)
	"$1" && within another_device "$was" && own_addresses
}

device_is_down() { [ ! -e "/sys/class/infiniband/$LAB_DEV" ]; }

# taken HOW, given HOW: the device is removed, by an administrator's hand or by an error; and added again.
# A device with a fatal error stays down until it is reset.
taken()
{
	case $1 in
	by_hand) put "$device" /sys/bus/pci/drivers/vhca/unbind ;;
	by_error) lab-fault fatal "$own" ;;
	esac
}

given()
{
	within device_is_down || return 1
	case $1 in
	by_hand) put "$device" /sys/bus/pci/drivers/vhca/bind ;;
	by_error) put 1 "/sys/bus/pci/devices/$device/reset" ;;
	esac
}

by_hand() { taken by_hand && given by_hand; }
by_error() { taken by_error && given by_error; }
# a reset of its function, from which it comes by itself
by_reset() { put 1 "/sys/bus/pci/devices/$device/reset"; }
