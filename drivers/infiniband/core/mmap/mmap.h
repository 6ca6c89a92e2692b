/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What mmap/ offers beyond <rdma/ib_verbs.h>: the list that every file keeps of its
 * mappings of device pages, so that the pages can be taken back.
 *
 * Drivers call the functions of this folder, also drivers that run without ib_uverbs, therefore it
 * is part of ib_core. The VM operations of the mappings are ib_uverbs' (uverbs/umap_vm.c).
 */
#ifndef RDMA_CORE_MMAP_H
#define RDMA_CORE_MMAP_H

#include <linux/list.h>
#include <linux/mutex.h>

struct page;
struct rdma_user_mmap_entry;
struct vm_area_struct;

/**
 * struct rdma_umaps - the mappings of one file, at the beginning of what its private_data points to
 * @lock: protects everything here; nests inside mmap_lock
 * @list: struct rdma_umap_priv of each mapping
 * @page: page that writable mappings show after their pages were revoked, made on the first touch
 */
struct rdma_umaps {
	struct mutex lock;
	struct list_head list;
	struct page *page;
};

/**
 * struct rdma_umap_priv - one mapping, vm_private_data of its VMA
 * @vma: the mapping
 * @list: in the file's struct rdma_umaps; empty once its pages were taken back
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
