// Reads the output of a migration as an API server would.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "api/json.hpp"
#include "api/yaml.hpp"
#include "migrate/migration.hpp"
#include "test/support/catch.hpp"

namespace test {

using namespace api::v1alpha1;
namespace migrate = kubenodesmith::migrate;

class Migrated {
public:
    explicit Migrated(const migrate::Migration& migration, bool with_secrets = false)
        : report(migration.report), yaml(migrate::yaml_of(migration.draft, with_secrets)) {
        for (auto& document : api::parse_yaml_documents(yaml)) documents_.push_back(document.as_object());
    }

    template <class T>
    std::vector<T> all() const {
        std::vector<T> result;
        for (const auto& document : documents_) {
            if (document.at("kind").as_string() == T::kResource.kind)
                result.push_back(api::decode<T>(document));
        }
        return result;
    }
    template <class T>
    T only() const {
        auto found = all<T>();
        REQUIRE(found.size() == 1);
        return found.front();
    }
    const boost::json::object* document(std::string_view kind, std::string_view name) const {
        for (const auto& each : documents_) {
            if (each.at("kind").as_string() == kind && each.at("metadata").at("name").as_string() == name)
                return &each;
        }
        return nullptr;
    }
    const migrate::ReportLine& line(std::string_view key) const {
        const auto found = std::find_if(report.lines.begin(), report.lines.end(),
                                        [&](const auto& each) { return each.key == key; });
        INFO("report line for " << key);
        REQUIRE(found != report.lines.end());
        return *found;
    }

    migrate::Report report;
    std::string yaml;

private:
    std::vector<boost::json::object> documents_;
};

}  // namespace test
