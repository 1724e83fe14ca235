#include "kube/watches.hpp"

namespace kube {

void enqueue(WorkQueue& queue, base::Duration delay, const ObjectKey& key) {
    if (delay > base::Duration::zero())
        queue.add_after(key, delay);
    else
        queue.add(key);
}

void enqueue(WorkQueue& queue, base::Duration delay, const std::optional<ObjectKey>& key) {
    if (key) enqueue(queue, delay, *key);
}

void enqueue(WorkQueue& queue, base::Duration delay, const Keys& keys) {
    for (const auto& key : keys) enqueue(queue, delay, key);
}

}  // namespace kube
