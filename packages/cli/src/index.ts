/** The library, for programs that install the command. What has to be lean imports `@isthmus/sdk`. */
export * from '@isthmus/sdk';
