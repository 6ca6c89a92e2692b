/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What mmap/ offers beyond <rdma/ib_verbs.h>: the list in which every file keeps its mappings of
 * device pages, so that they can be revoked.
 *
 * Drivers call the functions of this folder even if ib_uverbs is not loaded, so it is part of
 * ib_core. The VM operations of the mappings are ib_uverbs' (uverbs/umap_vm.c).
 */
#ifndef RDMA_CORE_MMAP_H
#define RDMA_CORE_MMAP_H

#include <linux/list.h>
#include <linux/mutex.h>

struct page;
struct rdma_user_mmap_entry;
struct vm_area_struct;

/**
 * struct rdma_umaps - the mappings of one file, the first member of the structure to which its
 * private_data points
 * @lock: protects everything here; nests inside mmap_lock
 * @list: struct rdma_umap_priv of each mapping
 * @page: page that writable mappings get once their pages are revoked; allocated on first access
 */
struct rdma_umaps {
	struct mutex lock;
	struct list_head list;
	struct page *page;
};

/**
 * struct rdma_umap_priv - one mapping, vm_private_data of its VMA
 * @vma: the mapping
 * @list: in the file's struct rdma_umaps; empty once its pages were revoked
 * @entry: mmap offset entry it holds a reference on, or NULL
 */
struct rdma_umap_priv {
	struct vm_area_struct *vma;
	struct list_head list;
	struct rdma_user_mmap_entry *entry;
};

void rdma_umap_priv_init(struct rdma_umap_priv *priv, struct vm_area_struct *vma,
			 struct rdma_user_mmap_entry *entry);

#endif
