export * from '@isthmus/sdk/stdio';
