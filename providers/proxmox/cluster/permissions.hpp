// The token's own rights. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <set>
#include <string>

namespace providers::proxmox {

class Permissions {
public:
    // Of GET /access/permissions: privileges by path, 1 if they hold below it as well.
    static Permissions parse(const boost::json::value& data);

    // Rights on a deeper path replace those from above, as in Proxmox.
    bool has(const std::string& path, const std::string& privilege) const;
    // There, or on anything below it.
    bool has_below(const std::string& path, const std::string& privilege) const;
    // All that hold on the path, inherited or not.
    std::set<std::string> at(const std::string& path) const;
    // What follows the path where something below it has rights of its own: "kubernetes" below "/pool".
    std::set<std::string> names_below(const std::string& path) const;

private:
    std::map<std::string, std::map<std::string, bool>> by_path_;
};

}  // namespace providers::proxmox
