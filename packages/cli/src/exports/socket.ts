export * from '@isthmus/sdk/socket';
