# The image of `RUNNER_IMAGE`: this program and what it loads, nothing else to find or run for whoever gets into it.
# Build it beside a `gatehouse` of the server's own version, made by `make release`.
FROM debian:stable-slim AS libraries
COPY gatehouse /gatehouse
RUN mkdir -p /root-of-image/tmp && chmod 1777 /root-of-image/tmp \
 && ldd /gatehouse | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} /root-of-image \
 && cp /gatehouse /root-of-image/

FROM scratch
COPY --from=libraries /root-of-image /
ENTRYPOINT ["/gatehouse"]
