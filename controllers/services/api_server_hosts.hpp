// Finds the names and addresses of the API server that the objects of the operator state. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

#include "controllers/cache/informers.hpp"

namespace controllers {

// Returns the hosts, as names or addresses, where machines find the API server, by the namespace of the
// objects that state them.
std::map<std::string, std::set<std::string>> api_server_hosts(const Informers& informers);

// Reports whether clients may find an API server, or something on their own host, under this name. A
// machine of that name would get a certificate for it, and clients would trust the machine.
// https://kubernetes.io/docs/setup/best-practices/certificates/ (names of the API server's certificate)
bool is_name_of_api_server(const Informers& informers, const NodeSmithClaim& claim, const std::string& name);

}  // namespace controllers
