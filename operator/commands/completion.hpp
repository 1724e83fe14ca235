// kubenodesmith completion SHELL, and the candidates that its scripts request.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "operator/command_line/client_options.hpp"
#include "operator/command_line/references.hpp"

namespace kubenodesmith {

void add_completion_command(CLI::App& app, ClientOptions& options, Command& chosen);
// Adds the hidden command `__complete WORD...`, which the scripts call.
void add_complete_command(CLI::App& app, ClientOptions& options, Command& chosen);

// Returns the objects of a kind in the cluster and the namespace of the options.
using FindObjects = std::function<std::vector<api::ObjectKey>(ObjectKind kind, const ClientOptions& options)>;

// Returns completions of the last word in the format that kubectl expects from a plugin. Each line has a
// candidate, a tab and its description. The last line is ":4", or ":0" if the word is a file name. Names of
// objects are looked up with `find_objects`.
std::string candidates_for(const CLI::App& app, const std::vector<std::string>& words,
                           const FindObjects& find_objects);

}  // namespace kubenodesmith
