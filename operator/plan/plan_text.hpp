// Describes a plan for people and for programs.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "operator/plan/plan.hpp"

namespace kubenodesmith {

// Each sentence_of() returns one line for people; table_of() returns all lines.
std::string sentence_of(const PlannedMachine& planned_machine);
std::string sentence_of(const WaitingPod& pod);
std::string sentence_of(const PlannedRemoval& node);
std::string sentence_of(const scheduling::Price& price);
std::string table_of(const Plan& plan);
boost::json::object json_of(const Plan& plan);

}  // namespace kubenodesmith
