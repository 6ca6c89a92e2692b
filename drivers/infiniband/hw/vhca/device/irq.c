// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Interrupts and the event queues behind them.
 *
 * Vector 0 is for admin completions and asynchronous events, each other vector for one completion
 * event queue. If there is only one vector (MSI), it is for all of them. Asynchronous events are
 * handled in a thread, since their handlers may sleep.
 */
#include <kunit/visibility.h>

#include "../cmd/cmd.h"
#include "device.h"

#define VHCA_ASYNC_EQ_LOG	8
#define VHCA_COMP_EQ_LOG	9

static void poll_vector(struct vhca_vector *vector)
{
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&vector->lock, flags);
	more = vhca_eq_poll(&vector->eq);
	spin_unlock_irqrestore(&vector->lock, flags);
	if (more)
		queue_work(vhca_comp_wq, &vector->again);
}

static void poll_vector_again(struct work_struct *work)
{
	poll_vector(container_of(work, struct vhca_vector, again));
}

/*
 * The event queues are created after the interrupts are requested, and destroyed before these are
 * freed: an interrupt may come while there is no ring. Therefore dev->async_ready and vi->vector
 * are set after the queue is complete, and cleared before synchronize_irq(), which waits for the
 * thread, too; only then is the queue destroyed.
 */
static bool async_ready(const struct vhca_dev *dev)
{
	/* Pairs with create_async(): the queue is there. */
	return smp_load_acquire(&dev->async_ready);
}

/*
 * Handles a bounded number of events and leaves the others to a work item, which destroy_async()
 * can cancel even if the device keeps writing events.
 */
static void poll_async(struct vhca_dev *dev)
{
	bool more;

	mutex_lock(&dev->async_lock);
	more = vhca_eq_poll(&dev->async_eq);
	mutex_unlock(&dev->async_lock);
	if (more)
		queue_work(system_unbound_wq, &dev->async_again);
}

static void poll_async_again(struct work_struct *work)
{
	poll_async(container_of(work, struct vhca_dev, async_again));
}

static irqreturn_t handle_irq(int irq, void *arg)
{
	struct vhca_irq *vi = arg;
	struct vhca_dev *dev = vi->dev;
	/* Pairs with create_vector(). */
	struct vhca_vector *vector = smp_load_acquire(&vi->vector);
	irqreturn_t ret = IRQ_HANDLED;

	if (!vi->index) {
		vhca_admin_poll(&dev->hw.admin);
		if (async_ready(dev) && vhca_eq_pending(&dev->async_eq))
			ret = IRQ_WAKE_THREAD;
	}
	if (vector)
		poll_vector(vector);
	return ret;
}

static irqreturn_t handle_async(int irq, void *arg)
{
	struct vhca_irq *vi = arg;

	poll_async(vi->dev);
	return IRQ_HANDLED;
}

/**
 * vhca_irqs_alloc() - allocate and request interrupts
 * @dev: the device, not started yet
 *
 * One for admin and asynchronous events and one for each CPU, or as many as can be allocated.
 *
 * Context: may sleep.
 * Return: 0, or an error of the PCI and interrupt layers.
 */
int vhca_irqs_alloc(struct vhca_dev *dev)
{
	struct pci_dev *pdev = dev->fn->pdev;
	int node = dev_to_node(&pdev->dev);
	unsigned int i;
	int n, err;

	n = pci_alloc_irq_vectors(pdev, 1, num_online_cpus() + 1, PCI_IRQ_MSIX | PCI_IRQ_MSI);
	if (n < 0) {
		dev_err(&pdev->dev, "no interrupt vectors (%d)\n", n);
		return n;
	}
	dev->irqs = kcalloc(n, sizeof(*dev->irqs), GFP_KERNEL);
	if (!dev->irqs) {
		err = -ENOMEM;
		goto err_vectors;
	}

	for (i = 0; i < n; i++) {
		struct vhca_irq *vi = &dev->irqs[i];

		vi->dev = dev;
		vi->index = i;
		snprintf(vi->name, sizeof(vi->name), "vhca-%s-%u", pci_name(pdev), i);
		err = request_threaded_irq(pci_irq_vector(pdev, i), handle_irq,
					   i ? NULL : handle_async, 0, vi->name, vi);
		if (err)
			goto err_irqs;
		if (i)
			irq_set_affinity_and_hint(pci_irq_vector(pdev, i),
						  cpumask_of(cpumask_local_spread(i - 1, node)));
	}
	dev->nirqs = n;
	return 0;

err_irqs:
	dev_err(&pdev->dev, "interrupt %u refused (%d)\n", i, err);
	dev->nirqs = i;
	vhca_irqs_free(dev);
	return err;
err_vectors:
	pci_free_irq_vectors(pdev);
	return err;
}

/**
 * vhca_irqs_free() - free the interrupts
 * @dev: the device, stopped
 *
 * Context: may sleep.
 */
void vhca_irqs_free(struct vhca_dev *dev)
{
	struct pci_dev *pdev = dev->fn->pdev;

	for (unsigned int i = 0; i < dev->nirqs; i++) {
		irq_update_affinity_hint(pci_irq_vector(pdev, i), NULL);
		free_irq(pci_irq_vector(pdev, i), &dev->irqs[i]);
	}
	pci_free_irq_vectors(pdev);
	kfree(dev->irqs);
	dev->irqs = NULL;
	dev->nirqs = 0;
}

static int create_vector(struct vhca_dev *dev, unsigned int i)
{
	unsigned int index = dev->nirqs > 1 ? i + 1 : 0;
	struct vhca_vector *vector = &dev->vectors[i];
	int err;

	vector->dev = dev;
	vector->cpu = cpumask_local_spread(i, dev_to_node(dev->hw.dev));
	spin_lock_init(&vector->lock);
	vhca_id_table_init(&vector->cqs, &vector->eq);
	INIT_WORK(&vector->again, poll_vector_again);
	err = vhca_eq_create(&vector->eq, &dev->hw, &dev->uar, VHCA_COMP_EQ_LOG, index, 0,
			     vhca_comp_event);
	if (err)
		return err;
	/* Pairs with handle_irq(). */
	smp_store_release(&dev->irqs[index].vector, vector);
	/* Entries may have come before the interrupt handler knew the queue. */
	poll_vector(vector);
	return 0;
}

static void destroy_vector(struct vhca_dev *dev, unsigned int i)
{
	unsigned int index = dev->nirqs > 1 ? i + 1 : 0;
	struct vhca_vector *vector = &dev->vectors[i];

	WRITE_ONCE(dev->irqs[index].vector, NULL);
	synchronize_irq(pci_irq_vector(dev->fn->pdev, index));
	cancel_work_sync(&vector->again);
	if (vhca_eq_destroy(&vector->eq))
		dev_err(dev->hw.dev, "device keeps event queue %u\n", vector->eq.eqn);
	vhca_id_table_exit(&vector->cqs);
}

static int create_async(struct vhca_dev *dev)
{
	struct vhca_eq *eq = &dev->async_eq;
	u8 flags = VHCA_EQ_ASYNC;
	int err;

	INIT_WORK(&dev->async_again, poll_async_again);
	if (VHCA_TELLS_PORT_CHANGE && vhca_hw_has(&dev->hw, VHCA_CAP_PORT_CHANGE))
		flags |= VHCA_EQ_PORT_CHANGE;
	err = vhca_eq_create(eq, &dev->hw, &dev->uar, VHCA_ASYNC_EQ_LOG, 0, flags,
			     vhca_async_event);
	if (err)
		return err;
	/* Pairs with async_ready(). */
	smp_store_release(&dev->async_ready, true);
	/* Entries may have come before the interrupt handler knew the queue. */
	poll_async(dev);
	return 0;
}

static void destroy_async(struct vhca_dev *dev)
{
	WRITE_ONCE(dev->async_ready, false);
	synchronize_irq(pci_irq_vector(dev->fn->pdev, 0));
	cancel_work_sync(&dev->async_again);
	if (vhca_eq_destroy(&dev->async_eq))
		dev_err(dev->hw.dev, "device keeps event queue %u\n", dev->async_eq.eqn);
}

/**
 * vhca_eqs_create() - create the event queues
 * @dev: the device, whose commands work and whose kernel doorbell area is open
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; or an error of commands (cmd/cmd.h).
 */
int vhca_eqs_create(struct vhca_dev *dev)
{
	unsigned int max = min(dev->hw.limits.max_eqs - 1, dev->hw.limits.vectors);
	unsigned int i, n;
	int err;

	n = min(max(dev->nirqs - 1, 1U), max);
	dev->vectors = kcalloc(n, sizeof(*dev->vectors), GFP_KERNEL);
	if (!dev->vectors)
		return -ENOMEM;
	err = create_async(dev);
	if (err)
		goto err_free;
	for (i = 0; i < n; i++) {
		err = create_vector(dev, i);
		if (err)
			goto err_destroy;
	}
	dev->nvectors = n;
	return 0;

err_destroy:
	while (i--)
		destroy_vector(dev, i);
	destroy_async(dev);
err_free:
	kfree(dev->vectors);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_eqs_create);

/**
 * vhca_eqs_destroy() - destroy the event queues
 * @dev: the device; all CQs and QPs were destroyed
 *
 * Context: may sleep.
 */
void vhca_eqs_destroy(struct vhca_dev *dev)
{
	while (dev->nvectors)
		destroy_vector(dev, --dev->nvectors);
	destroy_async(dev);
	kfree(dev->vectors);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_eqs_destroy);

/**
 * vhca_eqs_rescue() - handle events whose interrupt was lost
 * @dev: the device
 *
 * Called once a second by the health check.
 *
 * Context: may sleep.
 */
void vhca_eqs_rescue(struct vhca_dev *dev)
{
	struct vhca_vector *vector;
	unsigned int lost = 0;

	if (vhca_eq_stuck(&dev->async_eq)) {
		lost++;
		poll_async(dev);
	}
	for (unsigned int i = 0; i < dev->nvectors; i++) {
		vector = &dev->vectors[i];
		if (!vhca_eq_stuck(&vector->eq))
			continue;
		lost++;
		poll_vector(vector);
	}
	if (lost)
		dev_warn_ratelimited(dev->hw.dev, "interrupt lost: %u event queues had entries\n",
				     lost);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_eqs_rescue);
