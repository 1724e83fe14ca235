// The text of the page, which the build makes of the files in web/.
#pragma once

namespace kubenodesmith::status_page {

extern const char* const kPage;  // with the placeholders @STYLE@ and @SCRIPT@
extern const char* const kStyle;
extern const char* const kScript;

}  // namespace kubenodesmith::status_page
