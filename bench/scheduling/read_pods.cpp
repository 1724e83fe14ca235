#include <zlib.h>
#include <boost/json/parse.hpp>
#include <memory>
#include <stdexcept>

#include "api/json.hpp"
#include "bench/scheduling/workload.hpp"

namespace bench {

namespace {

struct CloseFile {
    void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseFile>;

// Returns false at the end of the file.
bool read_line(gzFile file, std::string& line) {
    constexpr int kChunk = 65536;
    line.clear();
    std::string chunk(kChunk, '\0');
    while (gzgets(file, chunk.data(), kChunk)) {
        line += chunk.c_str();
        if (line.ends_with('\n')) return true;
    }
    return !line.empty();
}

}  // namespace

Pods read_pods(const std::string& path) {
    const File file(gzopen(path.c_str(), "rb"));
    if (!file) throw std::runtime_error("cannot read " + path);
    Pods pods;
    std::string line;
    while (read_line(file.get(), line))
        if (line.find_first_not_of(" \r\n") != std::string::npos)
            pods.push_back(std::make_shared<api::Pod>(api::decode<api::Pod>(boost::json::parse(line))));
    return pods;
}

}  // namespace bench
