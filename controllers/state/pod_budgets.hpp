// PodDisruptionBudgets as the eviction API counts with them. Pure.
// https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core.hpp"

namespace controllers {

using BudgetPointers = std::vector<std::shared_ptr<const api::PodDisruptionBudget>>;

// The budgets that select the pod.
BudgetPointers budgets_of(const api::Pod& pod, const BudgetPointers& budgets);
// Reports whether the pod is evicted whatever its budgets say: it does not run yet or no longer, or is
// ending.
bool is_beyond_budgets(const api::Pod& pod);
// Reports whether a budget that selects the pod lets it go as it is not Ready, and uses up nothing for it.
bool lets_go_unready(const api::PodDisruptionBudget& budget, const api::Pod& pod);
// Reports whether an eviction of the pod uses up one of the disruptions that the budget allows.
bool uses_up(const api::Pod& pod, const api::PodDisruptionBudget& budget);
// Says why the pod cannot be evicted now, and what a person can do; empty: its budgets let it go.
std::string obstacle_of(const api::Pod& pod, const BudgetPointers& budgets);
// Says that the eviction API refuses a pod of several budgets, and what a person can do.
std::string several_budgets(const BudgetPointers& budgets);

}  // namespace controllers
