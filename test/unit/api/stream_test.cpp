#include "api/stream.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "test/support/catch.hpp"
#include "test/unit/api/random_object.hpp"

namespace json = boost::json;
using namespace api::v1alpha1;
using test::Generator;

namespace {

// Writes the text in pieces of random length, so that every token is cut somewhere.
template <class Sink>
void write_in_pieces(Generator& generator, std::string_view text, std::size_t longest, Sink& sink) {
    while (!text.empty()) {
        const std::size_t length = std::min(text.size(), 1 + test::below(generator, longest));
        // A copy without a terminator after it lets the sanitizer see reads beyond the end.
        const std::vector<char> piece(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
        sink.write({piece.data(), piece.size()});
        text.remove_prefix(length);
    }
}

template <class T>
T decode_in_pieces(Generator& generator, std::string_view text, std::size_t longest) {
    T object{};
    api::StreamDecoder decoder(&object, api::type_of<T>());
    write_in_pieces(generator, text, longest, decoder);
    decoder.finish();
    api::settle(decoder.take_issues(), object);
    return object;
}

template <class F>
std::string error_of(F decode) {
    try {
        decode();
    } catch (const api::DecodeError& error) {
        return error.what();
    }
    return "(none)";
}

template <class T>
void compare_with_documents(std::uint64_t seed) {
    Generator generator(seed);
    T original{};
    test::fill(generator, api::type_of<T>(), &original);
    json::value document = test::disguise(generator, api::encode(original), api::type_of<T>());
    const std::string text = json::serialize(document);
    INFO("seed " << seed << " " << T::kResource.kind << " " << text);
    CHECK(api::decode<T>(document) == original);
    CHECK(api::decode_text<T>(text) == original);
    CHECK(decode_in_pieces<T>(generator, text, 1) == original);
    CHECK(decode_in_pieces<T>(generator, text, 64) == original);

    test::break_one(generator, document);
    const std::string broken = json::serialize(document);
    INFO("broken: " << broken);
    const std::string expected = error_of([&] { api::decode<T>(document); });
    CHECK(error_of([&] { api::decode_text<T>(broken); }) == expected);
    CHECK(error_of([&] { decode_in_pieces<T>(generator, broken, 9); }) == expected);
    if (expected == "(none)") CHECK(api::decode_text<T>(broken) == api::decode<T>(document));
}

}  // namespace

TEST_CASE("streams and documents decode alike, whole or broken, however the text is cut") {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        compare_with_documents<api::Pod>(seed);
        compare_with_documents<api::Node>(seed);
        compare_with_documents<api::Event>(seed);
        compare_with_documents<api::Lease>(seed);
        compare_with_documents<api::Secret>(seed);
        compare_with_documents<api::DaemonSet>(seed);
        compare_with_documents<api::PodDisruptionBudget>(seed);
        compare_with_documents<api::PersistentVolume>(seed);
        compare_with_documents<api::PersistentVolumeClaim>(seed);
        compare_with_documents<api::StorageClass>(seed);
        compare_with_documents<api::CSINode>(seed);
        compare_with_documents<api::VolumeAttachment>(seed);
        compare_with_documents<NodeSmithProvider>(seed);
        compare_with_documents<NodeSmithHost>(seed);
        compare_with_documents<NodeSmithPool>(seed);
        compare_with_documents<NodeSmithClaim>(seed);
        compare_with_documents<NodeSmithControlPlane>(seed);
    }
}

TEST_CASE("a decode error in a stream names the place as a JSON Pointer") {
    const auto error = [](std::string_view text) {
        return error_of([&] { api::decode_text<api::Node>(text); });
    };
    CHECK(error(R"({"spec":{"taints":[{"key":"a"},{"effect":7}]}})") ==
          "/spec/taints/1/effect: expected a string");
    CHECK(error(R"({"metadata":{"labels":{"a/b~c":1}}})") == "/metadata/labels/a~1b~0c: expected a string");
    CHECK(error(R"({"spec":{"taints":{}}})") == "/spec/taints: expected an array");
    CHECK(error("[]") == "(root): expected an object");
    CHECK(error("7") == "(root): expected an object");
}

TEST_CASE("text that is no JSON, or not all of it, is refused") {
    for (const std::string text :
         {"", " ", "{", R"({"metadata")", R"({"metadata":)", R"({"metadata":{"name":"a)", "{}}", "{} {}",
          "{]", "nul", "{\"a\":1,}", "{\"metadata\":{\"name\":\"\x01\"}}",
          "{\"metadata\":{\"name\":\"\xff\"}}", "{'a':1}"}) {
        INFO(text);
        CHECK_THROWS_AS(api::decode_text<api::Node>(text), api::ParseError);
    }
    CHECK(api::decode_text<api::Node>(" {\"metadata\":{\"name\":\"n\"}}\r\n ").metadata.name == "n");
}

TEST_CASE("nesting is read as deeply as Kubernetes needs it, and whatever is deeper is left out") {
    Generator generator(1);
    const auto nested = [](const std::string& key, std::size_t depth) {
        std::string text = R"({"spec":{")" + key + R"(":{"a":)";
        for (std::size_t i = 0; i < depth; ++i) text += i % 2 ? "[7," : R"({"]":"\"}[","b":)";
        text += "0";
        for (std::size_t i = depth; i-- > 0;) text += i % 2 ? "]" : "}";
        return text + R"(}},"metadata":{"name":"n"}})";
    };
    for (const std::size_t depth : {1u, 400u, 509u, 510u, 511u, 600u, 9999u}) {
        INFO(depth);
        const auto skipped = nested("unknown", depth);
        CHECK(api::decode_text<NodeSmithProvider>(skipped).metadata.name == "n");
        CHECK(decode_in_pieces<NodeSmithProvider>(generator, skipped, 7).metadata.name == "n");

        NodeSmithProvider provider;
        const auto kept = nested("additionalSettings", depth);
        const auto issues = api::decode_text_into(kept, &provider, api::type_of<NodeSmithProvider>());
        CHECK(provider.metadata.name == "n");
        CHECK(issues.error.has_value() == (depth > 509));
        if (issues.error)
            CHECK(std::string(issues.error->what()) == "/spec/additionalSettings/a: nested too deeply");
    }
    CHECK_THROWS_AS(api::decode_text<api::Node>(std::string(100000, '[')), api::ParseError);
}

TEST_CASE("a value that does not fit is passed over, and all others are decoded") {
    const std::string text =
        R"({"metadata":{"name":7,"labels":{"a":["x"],"b":"c"},"resourceVersion":"5"},)"
        R"("spec":{"taints":{},"providerID":"p"},"status":{"conditions":[{"type":"Ready","status":"true"}]}})";
    api::Node streamed;
    api::Node parsed;
    const auto of_text = api::decode_text_into(text, &streamed, api::type_of<api::Node>());
    const auto of_document = api::decode_into(json::parse(text), &parsed, api::type_of<api::Node>());
    CHECK(streamed == parsed);
    CHECK(streamed.metadata.resourceVersion == "5");
    CHECK(streamed.metadata.labels["b"] == "c");
    CHECK(streamed.spec.providerID == "p");
    CHECK(streamed.status.conditions.at(0).status == api::ConditionStatus::Unrecognized);
    REQUIRE(of_text.error);
    REQUIRE(of_document.error);
    CHECK(std::string(of_text.error->what()) == "/metadata/name: expected a string");
    CHECK(std::string(of_document.error->what()) == of_text.error->what());
}

TEST_CASE("a value that an enum does not know is noted with the object") {
    const std::string text =
        R"({"metadata":{"name":"p"},"spec":{"deletionPolicy":"Hibernate","disruption":{"drift":"Rebase"}}})";
    const std::vector<api::UnknownValue> expected{{"/spec/deletionPolicy", "Hibernate"},
                                                  {"/spec/disruption/drift", "Rebase"}};
    const auto pool = api::decode_text<NodeSmithPool>(text);
    CHECK(pool.metadata.unknownValues == expected);
    CHECK(pool.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Unrecognized);
    CHECK(api::decode<NodeSmithPool>(json::parse(text)).metadata.unknownValues == expected);
    const auto event = api::decode_watch_event<NodeSmithPool>(R"({"type":"ADDED","object":)" + text + "}");
    CHECK(event.object.metadata.unknownValues == expected);
    CHECK_FALSE(event.misfit);
    std::vector<NodeSmithPool> pools;
    api::ListDecoder<NodeSmithPool> list([&](NodeSmithPool&& each) { pools.push_back(std::move(each)); });
    list.write(R"({"items":[)" + text + R"(,{"metadata":{"name":"q"}}],"metadata":{}})");
    list.finish();
    REQUIRE(pools.size() == 2);
    CHECK(pools[0].metadata.unknownValues == expected);
    CHECK(pools[1].metadata.unknownValues.empty());
    // A patch does not touch unknown values.
    auto changed = pool;
    changed.spec.weight = 7;
    CHECK(api::merge_patch(pool, changed) == json::parse(R"({"spec":{"weight":7}})"));
}

TEST_CASE("an item of a list that does not fit is given with what could be read of it") {
    std::vector<std::string> names;
    std::vector<std::string> misfits;
    api::ListDecoder<api::Node> decoder([&](api::Node&& node) { names.push_back(node.metadata.name); },
                                        [&](api::Node&& rest, const api::DecodeError& error) {
                                            misfits.push_back(rest.metadata.name + " " + error.what());
                                        });
    decoder.write(R"({"items":[{"metadata":{"name":"a"}},{"spec":{"taints":7},"metadata":{"name":"b"}},5,)");
    decoder.write(R"({"metadata":{"name":"c"}}],"metadata":{"resourceVersion":"9"}})");
    CHECK(decoder.finish().resourceVersion == "9");
    CHECK(names == std::vector<std::string>{"a", "c"});
    CHECK(misfits ==
          std::vector<std::string>{"b /spec/taints: expected an array", " (root): expected an object"});
}

TEST_CASE("the items of a list are delivered one by one, as soon as they are complete") {
    std::vector<std::string> names;
    api::ListDecoder<api::Node> decoder([&](api::Node&& node) { names.push_back(node.metadata.name); });
    decoder.write(R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"42","conti)");
    decoder.write(R"(nue":"next","remainingItemCount":7},"items":[{"metadata":{"name":"a"}},{"metadata":)");
    CHECK(names == std::vector<std::string>{"a"});
    decoder.write(R"({"name":"b"},"status":{}}],"more":[{}]})");
    const api::ListMeta metadata = decoder.finish();
    CHECK(names == std::vector<std::string>{"a", "b"});
    CHECK(metadata.resourceVersion == "42");
    CHECK(metadata.continue_ == "next");
}

TEST_CASE("lists decode alike however they are cut, also with metadata after the items") {
    Generator generator(1);
    json::array items;
    std::vector<api::Pod> expected(20);
    for (api::Pod& pod : expected) {
        test::fill(generator, api::type_of<api::Pod>(), &pod);
        items.push_back(api::encode(pod));
    }
    const std::string text =
        json::serialize(json::object{{"items", items}, {"metadata", {{"resourceVersion", "7"}}}});
    for (const std::size_t longest : {1u, 5u, 100u, 100000u}) {
        std::vector<api::Pod> pods;
        api::ListDecoder<api::Pod> decoder([&](api::Pod&& pod) { pods.push_back(std::move(pod)); });
        write_in_pieces(generator, text, longest, decoder);
        CHECK(decoder.finish().resourceVersion == "7");
        CHECK(pods == expected);
    }
}

TEST_CASE("an empty list has no items") {
    for (const std::string text :
         {R"({"items":[],"metadata":{}})", R"({"items":null})", R"({"metadata":{}})"}) {
        INFO(text);
        api::ListDecoder<api::Node> decoder([&](api::Node&&) { FAIL("an item"); });
        decoder.write(text);
        CHECK(decoder.finish().resourceVersion.empty());
    }
}

TEST_CASE("a list that breaks off or has a broken item says where, and delivers no half item") {
    std::vector<std::string> names;
    const auto decode = [&](std::string_view text) {
        names.clear();
        api::ListDecoder<api::Node> decoder([&](api::Node&& node) { names.push_back(node.metadata.name); });
        decoder.write(text);
        decoder.finish();
    };
    CHECK_THROWS_AS(decode(R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}})"),
                    api::ParseError);
    CHECK(names == std::vector<std::string>{"a"});
    CHECK(error_of([&] { decode(R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":7}}]})"); }) ==
          "/items/1/metadata/name: expected a string");
    CHECK(names == std::vector<std::string>{"a"});
    CHECK(error_of([&] { decode(R"({"items":[null]})"); }) == "/items/0: expected an object");
}

TEST_CASE("watch events are decoded with their kind") {
    const auto added =
        api::decode_watch_event<api::Node>(R"({"type":"ADDED","object":{"metadata":{"name":"n"}}})"
                                           "\n");
    CHECK(added.type == api::WatchEventType::Added);
    CHECK(added.object.metadata.name == "n");
    CHECK(api::decode_watch_event<api::Node>(R"({"type":"MODIFIED","object":{}})").type ==
          api::WatchEventType::Modified);
    CHECK(api::decode_watch_event<api::Node>(R"({"type":"DELETED","object":{}})").type ==
          api::WatchEventType::Deleted);

    const auto bookmark =
        api::decode_watch_event<api::Pod>(R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1",
        "metadata":{"resourceVersion":"99","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},
        "spec":{"containers":null},"status":{}}})");
    CHECK(bookmark.type == api::WatchEventType::Bookmark);
    CHECK(bookmark.object.metadata.resourceVersion == "99");
    CHECK(bookmark.object.metadata.annotations->contains("k8s.io/initial-events-end"));
}

TEST_CASE("the error of a watch is a Status, whatever kind is watched and in whatever order it comes") {
    const std::string status =
        R"({"kind":"Status","metadata":{},"status":"Failure","message":"too old resource version",
        "reason":"Expired","code":410})";
    for (const std::string& line :
         {R"({"type":"ERROR","object":)" + status + "}", R"({"object":)" + status + R"(,"type":"ERROR"})"}) {
        INFO(line);
        const auto pod = api::decode_watch_event<api::Pod>(line);
        CHECK(pod.type == api::WatchEventType::Error);
        CHECK(pod.status.code == 410);
        CHECK(pod.status.reason == "Expired");
        const auto map = api::decode_watch_event<api::ConfigMap>(line);
        CHECK(map.type == api::WatchEventType::Error);
        CHECK(map.status.code == 410);
    }
}

TEST_CASE("a watch line is refused if it is not JSON; an unknown type or unreadable object is reported") {
    const auto type = [](std::string_view line) { return api::decode_watch_event<api::Node>(line).type; };
    CHECK(type(R"({"type":"RENAMED","object":{}})") == api::WatchEventType::Unrecognized);
    CHECK(type(R"({"object":{}})") == api::WatchEventType::Unrecognized);
    const auto odd =
        api::decode_watch_event<api::Node>(R"({"type":"ADDED","object":{"spec":7,"metadata":{"name":"n"}}})");
    CHECK(odd.object.metadata.name == "n");
    REQUIRE(odd.misfit);
    CHECK(std::string(odd.misfit->what()) == "/spec: expected an object");
    CHECK_THROWS_AS(api::decode_watch_event<api::Node>(R"({"type":"ADDED","obj)"), api::ParseError);
}
