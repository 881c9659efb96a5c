// Configures Cube for `npm run test:cube`: groups of a token select the access policies.
module.exports = {
  contextToGroups: ({ securityContext }) => securityContext?.cubeCloud?.groups ?? [],
};
