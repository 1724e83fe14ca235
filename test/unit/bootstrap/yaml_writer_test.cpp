#include "bootstrap/yaml_writer.hpp"

#include "api/yaml.hpp"
#include "test/support/catch.hpp"

TEST_CASE("What is written is read as the same, keys that are longer than plain ones may be, too") {
    for (const auto& key : {std::string("runcmd"), std::string("true"), std::string(101, 'k'),
                            std::string(400, '\x01'), std::string(5000, 'k')}) {
        const boost::json::object inner{{key, "value"}, {"after", boost::json::array{1, "two"}}};
        const boost::json::value written = boost::json::object{{"first", inner}, {key, inner}};
        CHECK(api::parse_yaml(bootstrap::to_yaml(written)) == written);
    }
}
