// bench-decode [PODS]: Measures how fast a list of realistic pods is decoded into structs, with and without a
// DOM. It prints one line per method: pods per second, MB per second, and both relative to parsing alone.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/stream.hpp"
#include "bench/realistic_objects.hpp"

namespace json = boost::json;

namespace {

std::string make_list(int pods) {
    json::array items;
    for (int i = 0; i < pods; ++i) items.push_back(bench::realistic_pod(i));
    return json::serialize(
        json::object{{"kind", "PodList"}, {"metadata", {{"resourceVersion", "1"}}}, {"items", items}});
}

template <class F>
double seconds(F work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Decodes into a type without members: everything is parsed and skipped.
void parse_only(const std::string& text) {
    const api::Type nothing(api::Shape::Object);
    int target = 0;
    (void)api::decode_text_into(text, &target, nothing);
}

std::vector<api::Pod> decode_stream(const std::string& text) {
    std::vector<api::Pod> pods;
    api::ListDecoder<api::Pod> decoder([&](api::Pod&& each) { pods.push_back(std::move(each)); });
    constexpr std::size_t kChunk = 16384;
    for (std::size_t at = 0; at < text.size(); at += kChunk)
        decoder.write(std::string_view(text).substr(at, kChunk));
    decoder.finish();
    return pods;
}

std::vector<api::Pod> decode_document(const std::string& text) {
    std::vector<api::Pod> pods;
    const json::value document = json::parse(text);
    for (const json::value& item : document.at("items").as_array())
        pods.push_back(api::decode<api::Pod>(item));
    return pods;
}

// Returns each pod as one line of a watch.
std::vector<std::string> make_watch(int pods) {
    std::vector<std::string> lines;
    lines.reserve(static_cast<std::size_t>(pods));
    for (int i = 0; i < pods; ++i)
        lines.push_back(
            json::serialize(json::object{{"type", "MODIFIED"}, {"object", bench::realistic_pod(i)}}));
    return lines;
}

std::vector<api::Pod> decode_watch(const std::vector<std::string>& lines) {
    std::vector<api::Pod> pods;
    pods.reserve(lines.size());
    for (const std::string& line : lines) pods.push_back(api::decode_watch_event<api::Pod>(line).object);
    return pods;
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 20000;
    if (count <= 0) {
        std::fprintf(stderr, "usage: bench-decode [PODS]\n");
        return 2;
    }
    const std::string text = make_list(count);
    std::printf("pods=%d bytes_per_pod=%zu\n", count, text.size() / static_cast<std::size_t>(count));
    const std::vector<std::string> lines = make_watch(count);
    std::vector<api::Pod> streamed;
    std::vector<api::Pod> watched;
    std::vector<api::Pod> parsed;
    const double skipping = seconds([&] { parse_only(text); });
    const double streaming = seconds([&] { streamed = decode_stream(text); });
    const double watching = seconds([&] { watched = decode_watch(lines); });
    const double through_document = seconds([&] { parsed = decode_document(text); });
    const auto print = [&](const char* way, double time) {
        std::printf("%-9s seconds=%.3f pods_per_second=%.0f megabytes_per_second=%.0f relative=%.2f\n", way,
                    time, count / time, static_cast<double>(text.size()) / time / 1e6, time / skipping);
    };
    print("parse", skipping);
    print("stream", streaming);
    print("watch", watching);
    print("document", through_document);
    if (streamed != parsed || watched != parsed || streamed.size() != static_cast<std::size_t>(count)) {
        std::fprintf(stderr, "the results differ\n");
        return 1;
    }
    return 0;
}
