// The commit of the program's source, which cmake/source_commit.cmake determines.
#pragma once

namespace kubenodesmith {

extern const char* const
    kSourceCommit;  // "1a2b3c4d5e6f", with "-dirty" if files were changed; empty: unknown

}  // namespace kubenodesmith
