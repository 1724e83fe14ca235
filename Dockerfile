# Build with Debian 12's packages, ship only the binary and the shared libraries that it links.
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    clang-19 lld-19 cmake ninja-build libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev \
    libssl-dev libyaml-cpp-dev libspdlog-dev catch2 libarchive-dev zlib1g-dev libcli11-dev binutils
WORKDIR /source
COPY . .
RUN cmake --preset release && cmake --build --preset release --target kubenodesmith
RUN mkdir -p /image/etc/ssl/certs /image/usr/bin && strip -o /image/usr/bin/kubenodesmith build/release/bin/kubenodesmith \
    && ldd build/release/bin/kubenodesmith | awk '/=> \//{print $3} /ld-linux/{print $1}' \
       | xargs -I{} cp --parents -L {} /image/ \
    && cp /usr/lib/ssl/openssl.cnf /image/etc/ssl/ \
    && printf 'nonroot:x:65532:65532::/:/sbin/nologin\n' > /image/etc/passwd

FROM scratch
COPY --from=build /image/ /
USER 65532:65532
ENTRYPOINT ["/usr/bin/kubenodesmith"]
