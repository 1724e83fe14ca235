# Writes the files of the status page as strings: cmake -D WEB=... -D OUTPUT=... -P this file.
cmake_policy(SET CMP0053 NEW)
set(script "")
foreach(part elements charts sections main)
  file(READ ${WEB}/${part}.js text)
  string(APPEND script "${text}")
endforeach()
file(READ ${WEB}/style.css style)
file(READ ${WEB}/page.html page)
file(WRITE ${OUTPUT} "#include \"operator/status_page/page_text.hpp\"

namespace kubenodesmith::status_page {

const char* const kPage = R\"===(${page})===\";
const char* const kStyle = R\"===(${style})===\";
const char* const kScript = R\"===(${script})===\";

}  // namespace kubenodesmith::status_page
")
