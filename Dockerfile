# syntax=docker/dockerfile:1
# The image of scim-bridge: compiled code and runtime packages, nothing else. How to build and run it: docs/deploy.md.
# The base is Debian 13 with Node.js 24, by digest: the same bytes for each build. `.ci/updates/base-image.mjs` writes a newer one.
ARG NODE_IMAGE=node:24-trixie-slim@sha256:173f125896c3b47ddf056734c7ea789d04595a6a08769a8f78e0df642781fb66

# Compiles. Everything of the lock file is here, because the compiler looks at the types of optional packages too. The
# result is the same for each processor, so it is made once, on the one that builds.
FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm,sharing=locked npm ci
COPY tsconfig.json ./
COPY .ci/build.mjs .ci/tsconfig.build.json .ci/
COPY .ci/image/prune.mjs .ci/image/
COPY src src
RUN npm run --silent build && rm dist/.built && node .ci/image/prune.mjs dist

# Runtime packages alone, without what nothing loads: source maps, types, tests, documents. The optional ones, such as the
# query engine, serve the sandbox only.
FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm,sharing=locked npm ci --omit=dev --omit=optional
COPY .ci/image/prune.mjs .ci/image/
RUN node .ci/image/prune.mjs node_modules

FROM ${NODE_IMAGE} AS runtime
# Package managers have no work in a running container, and nobody changes users in one.
RUN rm -rf /opt/yarn* /usr/local/lib/node_modules \
    /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
    && find / -xdev -type f -perm /6000 -exec chmod a-s {} +
WORKDIR /app
COPY package.json LICENSE THIRD-PARTY-LICENSES ./
COPY config config
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
# Commands of the documentation work in the container as written.
RUN chmod 755 dist/main.js && ln -s /app/dist/main.js /usr/local/bin/scim-bridge

# Every address, IPv6 too where the node has it, so that a Service with both families reaches the pod. PORT wins over the settings file, so the health check below always asks the right port.
ENV NODE_ENV=production PORT=8080 HOST=::
# Three quarters of the 512 MB that the chart gives. server.limits keep the service far below, so it is never reached.
ENV NODE_OPTIONS="--max-old-space-size=384 --max-semi-space-size=8"
# One store of memory for all threads of the engine: 15 to 20 MB less.
ENV MALLOC_ARENA_MAX=1
EXPOSE 8080
# A number, so that Kubernetes can see that it is not root. Nothing below / is ever written.
USER 10001:10001

# No init is needed: the service handles SIGTERM and SIGINT itself, also as process 1, and has no child processes.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
# After a SIGTERM the service may take 40 s to finish what it has begun: docker stop --time 45.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=4 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# Last, so that a new commit alone rebuilds nothing above.
ARG VERSION=0.0.0-local
ARG REVISION=unknown
ARG SOURCE=""
# `scim-bridge --version` shows it.
ENV SCIM_BRIDGE_REVISION=${REVISION}
LABEL org.opencontainers.image.title="scim-bridge" \
      org.opencontainers.image.description="SCIM 2.0 endpoint that keeps a data platform's users, groups and typed user attributes equal to what identity providers push" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
