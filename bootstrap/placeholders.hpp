// Texts with {{ .Name }} in them: commands that users write, values of labels.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bootstrap {

// Every "{{ .Name }}" (blanks are free) becomes values["Name"]. Throws std::invalid_argument that names an
// unknown placeholder and the known ones; the message never holds a value.
std::string fill_placeholders(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace bootstrap
