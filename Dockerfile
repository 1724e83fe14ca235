# Build with Debian 12's packages, ship only the binary and the shared libraries that it links.
FROM debian:12@sha256:2c037a04925515fdd6ea85ea14a682d0e79931f5e9f5d07b6dbfc6ba12f9e858 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    clang-19 lld-19 cmake ninja-build libboost1.81-dev libboost-container1.81-dev libboost-json1.81-dev libboost-url1.81-dev \
    libssl-dev libyaml-cpp-dev libspdlog-dev catch2 libarchive-dev zlib1g-dev libcli11-dev binutils ca-certificates openssl python3
WORKDIR /source
COPY . .
# The sources come without .git, so the commit has to be named.
ARG REVISION
RUN cmake --preset release -DKUBENODESMITH_COMMIT="$REVISION" && cmake --build --preset release --target kubenodesmith
RUN hack/image_root.sh build/release/bin/kubenodesmith /image

FROM scratch
ARG VERSION=development
ARG REVISION=unknown
LABEL org.opencontainers.image.source=https://kubenodesmith.parawell.cloud \
      org.opencontainers.image.revision=$REVISION \
      org.opencontainers.image.title=kubenodesmith \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.licenses=MIT \
      org.opencontainers.image.description="A node autoscaler for Kubernetes on your own hardware"
COPY --from=build /image/ /
USER 65532:65532
ENTRYPOINT ["/usr/bin/kubenodesmith"]
CMD ["run"]
