// Computes PodDisruptionBudgets as the eviction API does. Pure.
// https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core.hpp"

namespace controllers {

using BudgetPointers = std::vector<std::shared_ptr<const api::PodDisruptionBudget>>;

// Returns the budgets that select the pod.
BudgetPointers budgets_of(const api::Pod& pod, const BudgetPointers& budgets);
// Reports whether the pod is evicted regardless of its budgets, because it is not running or is ending.
bool is_beyond_budgets(const api::Pod& pod);
// Reports whether a budget that selects the pod lets it go because it is not Ready, at no cost.
bool lets_go_unready(const api::PodDisruptionBudget& budget, const api::Pod& pod);
// Reports whether an eviction of the pod uses up one of the disruptions that the budget allows.
bool uses_up(const api::Pod& pod, const api::PodDisruptionBudget& budget);
// Returns why the pod cannot be evicted now, and a remedy; empty: its budgets let it go.
std::string obstacle_of(const api::Pod& pod, const BudgetPointers& budgets);
// Explains that the eviction API refuses a pod with several budgets, and a remedy.
std::string several_budgets(const BudgetPointers& budgets);

}  // namespace controllers
