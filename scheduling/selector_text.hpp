// Says for people what selectors ask for.
#pragma once
#include <string>

#include "api/selector.hpp"

namespace scheduling {

// Returns, for example, "label zone=a".
std::string words_of(const api::SelectorRequirement& requirement);
// Returns, for example, "label zone=a and no label gpu", or "node n1".
std::string words_of(const api::NodeSelectorTerm& term);
std::string words_of(const api::NodeSelector& selector);
// Returns, for example, "label app=db".
std::string words_of(const api::LabelSelector& selector);
std::string words_of(const api::StringMap& labels);

}  // namespace scheduling
