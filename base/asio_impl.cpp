// The compiled part of Asio, its TLS layer and Beast (BOOST_ASIO_SEPARATE_COMPILATION), once for the whole
// program.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
