// Tests merge patches of structs with any content.
#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "test/support/catch.hpp"
#include "test/unit/api/random_object.hpp"

using namespace api::v1alpha1;
using test::below;
using test::Generator;

namespace {

// Gives other values to some fields of the struct and to some of the structs in it.
void change(Generator& generator, const api::Type& type, void* object) {
    for (const auto& field : type.fields) {
        void* value = api::member(object, field);
        if (field.type->shape == api::Shape::Object && below(generator, 2) == 0)
            change(generator, *field.type, value);
        else if (below(generator, 4) == 0)
            test::fill(generator, *field.type, value);
    }
}

template <class T>
void check_patches(Generator& generator) {
    constexpr int kPairs = 200;
    for (int i = 0; i < kPairs; ++i) {
        T before{};
        test::fill(generator, api::type_of<T>(), &before);
        T after = before;
        CHECK(api::merge_patch(before, after).empty());
        change(generator, api::type_of<T>(), &after);
        CHECK(api::merge_patch(before, after) ==
              api::merge_patch(api::encode(before).get_object(), api::encode(after).get_object()));
    }
}

}  // namespace

TEST_CASE("the patch of two structs is that of their documents") {
    Generator generator(7);
    check_patches<api::Node>(generator);
    check_patches<api::Pod>(generator);
    check_patches<NodeSmithClaim>(generator);
    check_patches<NodeSmithPool>(generator);
    check_patches<NodeSmithProvider>(generator);
}
