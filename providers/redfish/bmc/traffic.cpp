#include "providers/redfish/bmc/traffic.hpp"

namespace providers::redfish {

Traffic::Traffic(api::ObjectKey provider_key, std::size_t in_flight, ProviderEnvironment& environment_to_use)
    : environment(environment_to_use),
      provider(std::move(provider_key)),
      calls(environment.executor, in_flight),
      slow_calls(environment.executor, kSlowLane),
      requests(environment.metrics.counter("kubenodesmith_redfish_requests_total",
                                           "Requests to BMCs by method and HTTP status (error: no answer).",
                                           {"namespace", "provider", "method", "code"})),
      durations(environment.metrics.histogram(
          "kubenodesmith_redfish_request_duration_seconds", "Time that BMCs took to answer, by method.",
          {0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60}, {"namespace", "provider", "method"})),
      retries(environment.metrics.counter(
          "kubenodesmith_redfish_retries_total",
          "Retries that the answer of a BMC called for, by vendor and message of the answer.",
          {"namespace", "provider", "vendor", "message"})) {}

}  // namespace providers::redfish
