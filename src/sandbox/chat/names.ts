// Defines the names of the chat interface that differ between the specification and the vendor (contract 0.2).

export interface ChatNames {
  /** Header of the token, lower case. */
  readonly tokenHeader: string;
  /** Name of the tool that reads the model. */
  readonly metaTool: string;
  /** Name of the tool that runs SQL over the model. */
  readonly sqlTool: string;
  /** Graph node of the agent that works with data. */
  readonly analyst: string;
}

export const SPECIFIED_NAMES: ChatNames = {
  tokenHeader: 'x-service-auth-token',
  metaTool: 'serviceMeta',
  sqlTool: 'serviceSqlApi',
  analyst: 'data_analyst_agent',
};

export const VENDOR_NAMES: ChatNames = {
  tokenHeader: 'x-cube-auth-token',
  metaTool: 'cubeMeta',
  sqlTool: 'cubeSqlApi',
  analyst: 'cube_data_analyst_agent',
};
