#include "scheduling/amount_text.hpp"

#include "scheduling/table/amounts.hpp"

namespace scheduling {

namespace {

constexpr std::int64_t kThousand = 1000;

}  // namespace

std::string decimal(std::int64_t thousandths) {
    if (thousandths < 0) return "-" + decimal(-thousandths);
    auto text = std::to_string(thousandths / kThousand);
    auto digits = std::to_string(kThousand + thousandths % kThousand).substr(1);
    while (!digits.empty() && digits.back() == '0') digits.pop_back();
    return digits.empty() ? text : text + "." + digits;
}

std::string cpus(std::int64_t millicores) {
    return decimal(millicores) + (millicores == kThousand ? " CPU" : " CPUs");
}

std::string memory(std::int64_t bytes) {
    const auto mebibytes = bytes / kMiB;
    if (mebibytes < 1024) return std::to_string(mebibytes) + " MiB";
    return decimal(mebibytes / 1024 * kThousand + mebibytes % 1024 * kThousand / 1024 / 10 * 10) + " GiB";
}

}  // namespace scheduling
