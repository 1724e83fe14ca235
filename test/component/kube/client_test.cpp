// Tests the typed client against a real kube-apiserver.
#include "api/core.hpp"
#include "kube/transport.hpp"
#include "test/component/kube/cluster.hpp"
#include "test/support/catch.hpp"

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

api::ConfigMap config_map(const std::string& name, const std::string& value = "1") {
    api::ConfigMap object;
    object.metadata.namespace_ = "default";
    object.metadata.name = name;
    object.metadata.labels["test"] = name;
    object.data["value"] = value;
    return object;
}

// Returns the refusal with which the call ended.
template <class T>
asio::awaitable<std::optional<kube::ApiError>> refusal(asio::awaitable<T> call) {
    try {
        co_await std::move(call);
    } catch (const kube::ApiError& error) {
        co_return error;
    }
    co_return std::nullopt;
}

}  // namespace

TEST_CASE_METHOD(test::Cluster, "objects are created, read, patched, listed and deleted") {
    const auto object = config_map(fresh_name("crud"));
    const auto key = api::key_of(object);
    loop.run([&]() -> asio::awaitable<void> {
        auto absent = co_await client.get<api::ConfigMap>(key);
        CHECK_FALSE(absent);
        auto created = co_await client.create(object);
        CHECK_FALSE(created.metadata.uid.empty());
        auto again = co_await refusal(client.create(object));
        REQUIRE(again);
        CHECK(again->is_already_exists());

        auto changed = created;
        changed.data["value"] = "2";
        auto patch = kube::difference(created, changed, kube::Lock::resource_version);
        auto patched = co_await client.patch<api::ConfigMap>(key, *patch);
        CHECK(patched.data.at("value") == "2");
        auto stale = co_await refusal(client.patch<api::ConfigMap>(key, *patch));
        REQUIRE(stale);
        CHECK(stale->is_conflict());

        kube::ListOptions options;
        options.label_selector = "test=" + object.metadata.name;
        auto listed = co_await client.list<api::ConfigMap>(options);
        CHECK(listed.objects == std::vector<api::ConfigMap>{patched});

        api::Preconditions other;
        other.uid = "00000000-0000-0000-0000-000000000000";
        auto wrong = co_await refusal(client.remove<api::ConfigMap>(key, other));
        REQUIRE(wrong);
        CHECK(wrong->is_conflict());
        api::Preconditions same;
        same.uid = created.metadata.uid;
        bool removed = co_await client.remove<api::ConfigMap>(key, same);
        CHECK(removed);
        bool removed_again = co_await client.remove<api::ConfigMap>(key);
        CHECK_FALSE(removed_again);
    });
}

TEST_CASE_METHOD(test::Cluster, "fields that our types do not know survive a patch") {
    const auto name = fresh_name("unknown");
    loop.run([&]() -> asio::awaitable<void> {
        json::value body{
            {"metadata", {{"name", name}}}, {"binaryData", {{"blob", "AAEC"}}}, {"immutable", false}};
        std::optional<json::value> sent = body;
        co_await client.call("POST", "/api/v1/namespaces/default/configmaps", sent);
        const kube::ObjectKey key{"default", name};
        auto before = co_await client.get<api::ConfigMap>(key);
        auto after = *before;
        after.metadata.labels["a"] = "b";
        auto patch = kube::difference(*before, after, kube::Lock::none);
        co_await client.patch<api::ConfigMap>(key, *patch);
        auto document = co_await client.get_json(kube::path_of(api::ConfigMap::kResource, key));
        CHECK(document->at("binaryData").at("blob") == "AAEC");
        CHECK(document->at("metadata").at("labels").at("a") == "b");
    });
}

TEST_CASE_METHOD(test::Cluster, "a JSON patch whose test fails changes nothing, server-side apply creates") {
    const auto name = fresh_name("patches");
    const kube::ObjectKey key{"default", name};
    loop.run([&]() -> asio::awaitable<void> {
        kube::Patch apply;
        apply.type = kube::Patch::Type::apply;
        apply.body = {{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", {{"name", name}, {"namespace", "default"}}},
                      {"data", {{"value", "applied"}}}};
        auto applied = co_await client.patch<api::ConfigMap>(key, apply);
        CHECK(applied.data.at("value") == "applied");

        kube::Patch guarded;
        guarded.type = kube::Patch::Type::json;
        guarded.body = json::array{{{"op", "test"}, {"path", "/data/value"}, {"value", "other"}},
                                   {{"op", "replace"}, {"path", "/data/value"}, {"value", "changed"}}};
        auto error = co_await refusal(client.patch<api::ConfigMap>(key, guarded));
        REQUIRE(error);
        CHECK(error->is_conflict());
        auto unchanged = co_await client.get<api::ConfigMap>(key);
        CHECK(unchanged->data.at("value") == "applied");
    });
}

TEST_CASE_METHOD(test::Cluster, "status is patched apart from the rest") {
    api::Node node;
    node.metadata.name = fresh_name("node");
    const auto key = api::key_of(node);
    loop.run([&]() -> asio::awaitable<void> {
        auto created = co_await client.create(node);
        auto after = created;
        api::Condition condition;
        condition.type = "Test";
        condition.status = api::ConditionStatus::True;
        after.status.conditions.push_back(condition);
        after.metadata.labels["ignored"] = "yes";
        auto patch = kube::difference(created, after, kube::Lock::none);
        auto patched = co_await client.patch_status<api::Node>(key, *patch);
        CHECK(api::is_true(patched.status.conditions, "Test"));
        co_await client.remove<api::Node>(key);
    });
}

TEST_CASE_METHOD(test::Cluster, "more objects than fit on a page are listed") {
    const auto label = fresh_name("many");
    loop.run(
        [&]() -> asio::awaitable<void> {
            base::TaskGroup group(loop.context.get_executor());
            auto create = [&](int number) -> asio::awaitable<void> {
                auto object = config_map(label + "-" + std::to_string(number));
                object.metadata.labels["test"] = label;
                co_await client.create(object);
            };
            for (int i = 0; i < 620; ++i) group.spawn(create(i));
            co_await group.join();
            kube::ListOptions options;
            options.namespace_ = "default";
            options.label_selector = "test=" + label;
            auto listed = co_await client.list<api::ConfigMap>(options);
            CHECK(listed.objects.size() == 620);
        },
        std::chrono::seconds(60));
}

TEST_CASE_METHOD(test::Cluster, "a kind that is not served is not mistaken for an object that is not there") {
    loop.run([&]() -> asio::awaitable<void> {
        auto no_group = co_await refusal(client.get_json("/apis/example.io/v1/namespaces/default/things/x"));
        REQUIRE(no_group);
        CHECK(no_group->is_not_found());
        auto no_kind = co_await refusal(client.get_json("/api/v1/namespaces/default/things/x"));
        REQUIRE(no_kind);
        CHECK(no_kind->is_not_found());
    });
}

TEST_CASE_METHOD(test::Cluster, "a stranger is refused, and a server of another authority is not spoken to") {
    auto stranger = config;
    stranger.http.tls.client_certificate_pem.clear();
    stranger.http.tls.client_key_pem.clear();
    stranger.bearer_token = "nonsense";
    kube::Client unknown(kube::make_transport(loop.context.get_executor(), *loop.clock, stranger),
                         *loop.clock, metrics);
    auto distrustful = config;
    distrustful.http.tls.ca_bundle_pem.clear();
    distrustful.ca_file.clear();
    kube::Client wary(kube::make_transport(loop.context.get_executor(), *loop.clock, distrustful),
                      *loop.clock, metrics);
    loop.run([&]() -> asio::awaitable<void> {
        auto refused = co_await refusal(unknown.get_json("/api/v1/namespaces/default"));
        REQUIRE(refused);
        CHECK(refused->code == 401);
        std::string failure;
        try {
            co_await wary.get_json("/api/v1/namespaces/default");
        } catch (const base::TransportError& error) {
            failure = error.what();
            CHECK_FALSE(error.request_may_have_been_sent);
        }
        INFO(failure);
        CHECK(failure.find("the server's certificate was refused") != std::string::npos);
    });
}
