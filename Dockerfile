# kustomize and kpt run functions as the user nobody, without network and
# writable files: the image needs the static binary and a passwd that names nobody.
FROM scratch
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="trimtab" \
      org.opencontainers.image.description="Keeps the manifests of vLLM and SGLang servers true" \
      org.opencontainers.image.source="https://github.com/trimtab/trimtab" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY hack/image/passwd /etc/passwd
COPY bin/trimtab /usr/local/bin/trimtab
USER nobody
ENTRYPOINT ["/usr/local/bin/trimtab"]
