// Actor is the base class of all classes that take steps for claims.
#pragma once

#include "controllers/cache/context.hpp"
#include "controllers/claim/act/boot_data.hpp"
#include "controllers/claim/act/writer.hpp"
#include "controllers/services/provider_instances.hpp"

namespace controllers::claim {

class Actor : protected InContext {
public:
    struct Means {
        Context context;
        Writer& writer;
        ProviderInstances& instances;
        BootData& boot_data;
    };

protected:
    explicit Actor(const Means& means)
        : InContext(means.context),
          writer_(means.writer),
          instances_(means.instances),
          boot_data_(means.boot_data) {}

    Writer& writer_;
    ProviderInstances& instances_;
    BootData& boot_data_;
};

}  // namespace controllers::claim
