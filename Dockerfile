# The program in a container, from its Debian packages; its folder /data is for files:
#   docker build -t slabcast . && docker run --rm -v "$PWD:/data" slabcast render --mesh model.obj -o model.png
# `./dev prove packages` runs the RUN lines of each stage in a Debian 12 and a Debian 13 that have nothing.
ARG DEBIAN=trixie

FROM debian:${DEBIAN}-slim AS build
COPY . /srv/slabcast
WORKDIR /srv/slabcast
RUN ./dev package

FROM debian:${DEBIAN}-slim
COPY --from=build /srv/slabcast/build/packages /srv/packages
RUN apt-get update && \
    apt-get install -y --no-install-recommends /srv/packages/libslabcast0*.deb /srv/packages/slabcast_*.deb && \
    rm -r /srv/packages /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["slabcast"]
CMD ["--help"]
