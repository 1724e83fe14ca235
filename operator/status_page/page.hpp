// The status page as HTTP answers: one HTML page, the same for every cluster, and the document that it shows.
// The page asks for the document at its own address with "?format=json", so one right covers both.
#pragma once

#include <functional>
#include <string>

#include "base/http.hpp"

namespace kubenodesmith::status_page {

// Returns the document if the request asks for it, otherwise the page. Its policy allows only the page's own
// script, style and requests, and no other site may embed it.
base::HttpResponse answer(const base::HttpRequest& request, const std::function<std::string()>& document);

}  // namespace kubenodesmith::status_page
