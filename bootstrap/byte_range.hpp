// Parts of what is served: BMCs read virtual media block by block.
// https://www.rfc-editor.org/rfc/rfc9110#section-14
#pragma once

#include <string_view>

#include "base/http.hpp"

namespace bootstrap {

// The complete answer 200, or the part of it that the header Range asks for: 206, or 416 if the content ends
// before it. `range` empty, not understood, or of several parts: the answer as it is, as the RFC allows.
base::HttpResponse part_of(base::HttpResponse complete, std::string_view range);

}  // namespace bootstrap
