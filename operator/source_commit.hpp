// The commit that the program was built from, as cmake/source_commit.cmake finds it.
#pragma once

namespace kubenodesmith {

extern const char* const
    kSourceCommit;  // "1a2b3c4d5e6f", with "-dirty" if files were changed; empty: not known

}  // namespace kubenodesmith
