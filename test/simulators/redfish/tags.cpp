// Asset tags of a simulated system and its chassis.
#include <algorithm>

#include "test/simulators/redfish/bmc.hpp"

namespace redfish_simulator {

namespace {

bool is_chassis(const std::string& target) {
    return target.find("/Chassis/") != std::string::npos;
}

}  // namespace

bool Bmc::has_tag(const std::string& target) const {
    if (is_chassis(target)) return target.ends_with("/Chassis/Box") && profile_.chassis_has_tag;
    return target.ends_with("/Systems/Blade1") && profile_.system_has_tag;
}

Bmc::Response Bmc::patch_tag(const std::string& target, const json::object& body) {
    const bool of_chassis = is_chassis(target);
    if (!has_tag(target)) return error(400, "PropertyUnknown", "The property AssetTag is not known.");
    if (!of_chassis && profile_.refuses_system_tag)
        return error(400, "PropertyNotWritable", "The property AssetTag is read only.");
    const auto& value = body.at("AssetTag");
    if (!value.is_string() && !value.is_null())
        return error(400, "PropertyValueTypeError", "AssetTag is a text");
    auto tag = value.is_string() ? std::string(value.get_string()) : std::string();
    if (profile_.clears_tag_by_null && value.is_string() && tag.empty())
        return error(400, "PropertyValueFormatError", "AssetTag has 1 to 48 characters");
    if (on_tag_write) on_tag_write(tag);
    if (profile_.drops_tag) return empty(204);
    tag.resize(std::min(tag.size(), profile_.tag_length));
    set_asset_tag(std::move(tag), of_chassis);
    return empty(204);
}

}  // namespace redfish_simulator
