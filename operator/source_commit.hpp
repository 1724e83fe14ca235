// The commit of the program's source, which cmake/source_commit.cmake determines.
#pragma once

namespace kubenodesmith {

// "1a2b3c4d5e6f" or more digits, with "-dirty" if files were changed; empty: unknown
extern const char* const kSourceCommit;

}  // namespace kubenodesmith
