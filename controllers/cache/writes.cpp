#include "controllers/cache/writes.hpp"

#include <boost/json/object.hpp>

namespace controllers {

namespace {

json::object operation(std::string_view op, std::string_view path, json::value value) {
    json::object result;
    result["op"] = op;
    result["path"] = path;
    result["value"] = std::move(value);
    return result;
}

}  // namespace

json::array add_finalizer_patch(const api::ObjectMeta& metadata, std::string_view finalizer) {
    json::array all;
    for (const auto& present : metadata.finalizers) all.emplace_back(present);
    json::array operations;
    if (all.empty()) {
        // There is no list to test, so the test uses the whole object's version.
        operations.push_back(
            operation("test", "/metadata/resourceVersion", metadata.resourceVersion.c_str()));
        all.emplace_back(finalizer);
        operations.push_back(operation("add", "/metadata/finalizers", std::move(all)));
        return operations;
    }
    operations.push_back(operation("test", "/metadata/finalizers", std::move(all)));
    operations.push_back(operation("add", "/metadata/finalizers/-", json::string(finalizer)));
    return operations;
}

json::array remove_finalizer_patch(const api::ObjectMeta& metadata, std::string_view finalizer) {
    json::array operations;
    for (std::size_t i = 0; i < metadata.finalizers.size(); ++i) {
        if (metadata.finalizers[i] != finalizer) continue;
        const auto path = "/metadata/finalizers/" + std::to_string(i);
        operations.push_back(operation("test", path, json::string(finalizer)));
        json::object remove;
        remove["op"] = "remove";
        remove["path"] = path;
        operations.push_back(std::move(remove));
        break;
    }
    return operations;
}

}  // namespace controllers
