#include "test/simulators/proxmox/core/cpu_models.hpp"

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {

const std::vector<std::string>& cpu_models() {
    static const auto models = split_list(R"(
    486 Broadwell Broadwell-IBRS Broadwell-noTSX Broadwell-noTSX-IBRS Cascadelake-Server
    Cascadelake-Server-noTSX Cascadelake-Server-v2 Cascadelake-Server-v4 Cascadelake-Server-v5
    ClearwaterForest Conroe Cooperlake Cooperlake-v2 EPYC EPYC-Genoa EPYC-Genoa-v2 EPYC-IBPB EPYC-Milan
    EPYC-Milan-v2 EPYC-Milan-v3 EPYC-Rome EPYC-Rome-v2 EPYC-Rome-v3 EPYC-Rome-v4 EPYC-Rome-v5 EPYC-Turin
    EPYC-v3 EPYC-v4 EPYC-v5 GraniteRapids GraniteRapids-v2 GraniteRapids-v3 Haswell Haswell-IBRS
    Haswell-noTSX Haswell-noTSX-IBRS Icelake-Client Icelake-Client-noTSX Icelake-Server
    Icelake-Server-noTSX Icelake-Server-v3 Icelake-Server-v4 Icelake-Server-v5 Icelake-Server-v6
    Icelake-Server-v7 IvyBridge IvyBridge-IBRS KnightsMill Nehalem Nehalem-IBRS Opteron_G1 Opteron_G2
    Opteron_G3 Opteron_G4 Opteron_G5 Penryn SandyBridge SandyBridge-IBRS SapphireRapids
    SapphireRapids-v2 SapphireRapids-v3 SapphireRapids-v4 SierraForest SierraForest-v2 SierraForest-v3
    Skylake-Client Skylake-Client-IBRS Skylake-Client-noTSX-IBRS Skylake-Client-v4 Skylake-Server
    Skylake-Server-IBRS Skylake-Server-noTSX-IBRS Skylake-Server-v4 Skylake-Server-v5 Westmere
    Westmere-IBRS a64fx athlon core2duo coreduo cortex-a35 cortex-a53 cortex-a55 cortex-a57 cortex-a710
    cortex-a72 cortex-a76 host kvm32 kvm64 max neoverse-n1 neoverse-n2 neoverse-v1 pentium pentium2
    pentium3 phenom qemu32 qemu64 x86-64-v2 x86-64-v2-AES x86-64-v3 x86-64-v4)");
    return models;
}

std::string_view cpu_vendor(std::string_view model) {
    for (std::string_view prefix : {"EPYC", "Opteron", "athlon", "phenom"}) {
        if (model.starts_with(prefix)) return "AuthenticAMD";
    }
    if (model.starts_with("cortex") || model.starts_with("neoverse") || model == "a64fx") return "ARM";
    for (std::string_view prefix : {"host", "max", "kvm", "qemu", "x86-64"}) {
        if (model.starts_with(prefix)) return "default";
    }
    return "GenuineIntel";
}

}  // namespace proxmox_simulator
