// Recognises addresses of this machine: data that is sent there does not cross a network.

/** Returns whether the host of this address is a loopback address. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
