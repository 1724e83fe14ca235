// Permissions are the token's own rights. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <set>
#include <string>

namespace providers::proxmox {

class Permissions {
public:
    // Parses GET /access/permissions: privileges by path, with 1 if they also hold below it.
    static Permissions parse(const boost::json::value& data);

    // Reports whether the token has the right. Rights on a deeper path replace inherited rights, as in
    // Proxmox.
    bool has(const std::string& path, const std::string& privilege) const;
    // Reports whether the token has the right on the path or anywhere below it.
    bool has_below(const std::string& path, const std::string& privilege) const;
    // Returns all privileges on the path, inherited or not.
    std::set<std::string> at(const std::string& path) const;
    // Returns the next name after `path` for each deeper path that has rights, e.g. "kubernetes" below
    // "/pool".
    std::set<std::string> names_below(const std::string& path) const;

private:
    std::map<std::string, std::map<std::string, bool>> by_path_;
};

}  // namespace providers::proxmox
